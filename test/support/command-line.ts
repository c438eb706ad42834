import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installation } from './installation';

export type Environment = Record<string, string>;

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  /** Arguments of node itself. */
  node?: string[];
}

/** What the service's processes get to see: none of the tester's own variables, and no port that others may want. */
export function cleanEnvironment(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, PORT: '0', METRICS_PORT: 'off', DATA_DIR: '/nonexistent/petstore', ...environment };
}

export function petstoreScript(): string {
  return join(installation(), 'bin', 'petstore.js');
}

/** Runs a command of the admin CLI to its end. */
export function petstore(
  args: string[],
  environment: Environment = {},
  { cwd = tmpdir(), node = [] }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [...node, petstoreScript(), ...args], {
    cwd,
    env: cleanEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    // It only ends a hang.
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (outcome.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...outcome, code }));
  });
}

/** Runs a command with --json that has to succeed, and reads what it printed. */
export async function petstoreJson<Printed>(args: string[], environment: Environment): Promise<Printed> {
  const { code, stdout, stderr } = await petstore([...args, '--json'], environment);
  if (code !== 0) {
    throw new Error(`petstore ${args.join(' ')} ended with ${code}: ${stderr}`);
  }
  return JSON.parse(stdout) as Printed;
}

/** One line on standard error, nothing on standard output. */
export function complaint(code: 1 | 2, line: RegExp): Outcome {
  return { code, stdout: '', stderr: expect.stringMatching(oneLine(line)) as string };
}

function oneLine({ source }: RegExp): RegExp {
  return new RegExp(`^petstore: (?=[^\\n]*(?:${source}))[^\\n]+\\n$`);
}
