import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { loadEnvironmentFile } from '../environment-file';
import { CliModule } from './cli.module';
import { BAD_USAGE, UsageError, writeUsageError } from './command';
import { CommandFailure } from './command-failure';

/** The admin's door. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  await CommandFactory.run(CliModule, {
    cliName: 'petstore',
    version: '1.0.0',
    logger: false,
    outputConfiguration: { outputError: writeUsageError },
    errorHandler: (error) => process.exit((error as { exitCode?: number }).exitCode === 0 ? 0 : BAD_USAGE),
    serviceErrorHandler: (error) => fail(error),
  });
}

async function fail(error: unknown): Promise<never> {
  if (error instanceof UsageError) {
    process.stderr.write(`petstore: ${error.message}\n`);
    process.exit(BAD_USAGE);
  }
  if (error instanceof CommandFailure) {
    process.stderr.write(`petstore: ${error.message}\n`);
    process.exit(error.exitCode);
  }
  const { reportFailure } = await import('../failures.js');
  return reportFailure(error);
}

/** Output into a pipe is written later; to leave before would cut it off. */
function leave(): void {
  process.stdout.write('', () => process.exit(0));
}

// Whoever reads the output may have had enough of it (`petstore openapi | head`); that is no failure. A command that
// listens itself has something to put away first.
process.stdout.on('error', () => process.stdout.listenerCount('error') > 1 || process.exit(0));

main().then(leave, fail);
