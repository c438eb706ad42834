import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../../support/command-line';
import type { Step } from '../../../support/guide-steps';

/** Ends what a command printed. */
const END = '\u0004';

/** Nobody waits for long: `sleep` moves the service's clock, after the second within which limits are written. */
const AS_IN_A_TEST = 'sleep() { command sleep 1; curl -s "$CLOCK/$1"; }\n';

export function requireCurl(): void {
  if (spawnSync('curl', ['--version']).error) {
    throw new Error('The guides are run with curl, which is not on the PATH (Debian: apt-get install curl).');
  }
}

/**
 * Runs the commands of a guide one after another in one shell, in an empty folder, as a reader would.
 * @returns what each of them printed
 */
export async function runGuide(steps: Step[], environment: Environment): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${END}'`).join('\n');
  const cwd = mkdtempSync(join(tmpdir(), 'petstore-guide-'));
  const child = spawn('sh', ['-c', `${AS_IN_A_TEST}${script}`], {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  rmSync(cwd, { recursive: true });
  return printed.split(END);
}
