import { writeFile } from 'node:fs/promises';
import { HELP, type Options, UsageError, readOptions } from './options';

const BAD_USAGE = 2;
const INTERRUPTED = 130;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interruption.abort());
  }
  try {
    return await bench(options, interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) {
      return INTERRUPTED;
    }
    throw error;
  }
}

/** @returns the exit code: 1 when something has no round that counts */
async function bench(options: Options, signal: AbortSignal): Promise<number> {
  const { runAll } = await import('./run-matches.js');
  const { describe } = await import('./report.js');
  const report = await runAll(options, signal);
  process.stdout.write(describe(report));
  if (options.json !== undefined) {
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  return report.operations.every(({ comparisons }) => comparisons.every(({ pairs }) => pairs > 0)) ? 0 : 1;
}

function fail(error: unknown): number {
  const usage = error instanceof UsageError;
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  return usage ? BAD_USAGE : 1;
}

void main()
  .catch(fail)
  .then((code) => process.exit(code));
