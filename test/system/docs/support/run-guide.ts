import { spawn, spawnSync } from 'node:child_process';
import { type Environment, petstoreScript } from '../../../support/command-line';
import type { Step } from '../../../support/guide-steps';

/** Ends what a command printed. */
const END = '\u0004';

/**
 * Nobody waits for long: `sleep` moves the service's clock, after the second within which the change of a key applies. The command line
 * is this checkout's.
 */
const AS_IN_A_TEST = `
sleep() { command sleep 1; curl -s "$CLOCK/$1"; }
npx() { shift; node "$PETSTORE" "$@"; }
`;

export function requireCurl(): void {
  if (spawnSync('curl', ['--version']).error) {
    throw new Error('The guides are run with curl, which is not on the PATH (Debian: apt-get install curl).');
  }
}

/**
 * Runs the commands of a guide one after another in one shell, as a reader would.
 * @returns what each of them printed
 */
export async function runGuide(steps: Step[], environment: Environment): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${END}'`).join('\n');
  const child = spawn('sh', ['-c', `${AS_IN_A_TEST}${script}`], {
    env: { PATH: process.env.PATH, PETSTORE: petstoreScript(), ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  return printed.split(END);
}
