import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
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
  /** The folder of another version of the service. */
  installation?: string;
  /** Arguments of node itself. */
  node?: string[];
  /** Of the terminal to which it prints; without them it prints to a pipe. */
  columns?: number;
}

/** What the service's processes get to see: none of the tester's own variables, and no port that others may want. */
export function cleanEnvironment(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, PORT: '0', METRICS_PORT: 'off', DATA_DIR: '/nonexistent/petstore', ...environment };
}

export function petstoreScript(folder = installation()): string {
  return join(folder, 'bin', 'petstore.js');
}

/** Runs a command of the admin CLI to its end. */
export async function petstore(
  args: string[],
  environment: Environment = {},
  { cwd = tmpdir(), installation: folder, node = [], columns }: RunOptions = {},
): Promise<Outcome> {
  const command = [process.execPath, ...node, petstoreScript(folder), ...args];
  const [program, ...rest] = columns === undefined ? command : onTerminal(command, columns);
  const child = spawn(program!, rest, {
    cwd,
    // Whatever is printed in local time would be seen.
    env: cleanEnvironment({ TZ: 'America/New_York', ...environment }),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // It only ends a hang.
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  const outcome = { stdout: '', stderr: '' };
  const collect = (name: keyof typeof outcome) => (text: string) => (outcome[name] += text);
  child.stdout!.setEncoding('utf8').on('data', collect('stdout'));
  child.stderr!.setEncoding('utf8').on('data', collect('stderr'));
  (child.stdio[3] as Readable).setEncoding('utf8').on('data', collect('stderr'));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...outcome, code };
}

/** The terminal is standard output alone; what the command prints on standard error comes by the third descriptor. */
function onTerminal(command: string[], columns: number): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const line = `stty cols ${columns} -onlcr && exec ${quoted} 2>&3`;
  return ['script', '--quiet', '--return', '--command', line, '/dev/null'];
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
