import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../../support/command-line';
import type { Step } from '../../../support/guide-steps';

/** Ends what a command printed. */
const END = '\u0004';

/** Nobody waits for long: `sleep` moves the service's clock, after the second within which limits are written. */
const AS_IN_A_TEST = 'sleep() { command sleep 1; curl -s "$CLOCK/$1"; }\n';

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

/** What a guide leaves out: the rest of a line, or a value that is another one each time. */
const LEFT_OUT = '…';

/** What was printed, reduced to what the guide shows of it, and the pattern that this has to match. */
export function compared(shown: NonNullable<Step['shown']>, printed: string): [actual: string, RegExp] {
  if (shown.language === 'text') {
    return [printed.replaceAll('\r', '').trim(), patternOf(shown.text.trim())];
  }
  const [head, body] = partsOf(shown.text);
  const [actualHead, actualBody] = partsOf(printed);
  const [status = '', ...fields] = head;
  const actual = [actualHead[0] ?? '', ...fields.map((field) => fieldLike(field, actualHead))];
  const wanted = [status, ...fields];
  // Guides lay bodies out to be read; the service sends them without white space.
  return body === '' ? pair(actual, wanted) : pair([...actual, bare(actualBody)], [...wanted, bare(body)]);
}

function pair(actual: string[], wanted: string[]): [string, RegExp] {
  return [actual.join('\n'), patternOf(wanted.join('\n'))];
}

/** Status line and fields, and the body. */
function partsOf(message: string): [head: string[], body: string] {
  const text = message.replaceAll('\r', '');
  const end = text.indexOf('\n\n');
  const head = (end < 0 ? text : text.slice(0, end)).trim().split('\n');
  return [head, end < 0 ? '' : text.slice(end).trim()];
}

/** The answer's field of the same name, which HTTP lets be written in any case. */
function fieldLike(field: string, head: string[]): string {
  const name = field.slice(0, field.indexOf(':') + 1);
  const found = head.find((line) => line.toLowerCase().startsWith(name.toLowerCase()));
  return found === undefined ? `no ${name}` : `${name}${found.slice(name.length)}`;
}

function bare(body: string): string {
  return body.replaceAll(/\s/g, '');
}

function patternOf(text: string): RegExp {
  const parts = text.split(LEFT_OUT).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
