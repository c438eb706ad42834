import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from './eventually';
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
}

/** What the service's processes get to see: none of the tester's own variables, and no port that others may want. */
export function cleanEnvironment(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, PORT: '0', METRICS_PORT: 'off', DATA_DIR: '/nonexistent/petstore', ...environment };
}

export function petstoreScript(folder = installation()): string {
  return join(folder, 'bin', 'petstore.js');
}

/** Runs a command of the admin CLI to its end, in a process of its own. */
export async function petstoreProcess(
  args: string[],
  environment: Environment = {},
  { cwd = tmpdir(), installation: folder, node = [] }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [...node, petstoreScript(folder), ...args], {
    cwd,
    env: cleanEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    // It only ends a hang.
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  const outcome = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (outcome.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...outcome, code };
}

const world = globalThis as { commandHost?: ChildProcess; lastCommand?: Promise<unknown> };

/** The process that runs commands for all files of this worker, and ends with it. */
function commandHost(): ChildProcess {
  if (world.commandHost === undefined) {
    const host = fork(join(__dirname, 'command-host.js'), [petstoreScript()], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      // Whatever is printed in local time would be seen.
      env: { TZ: 'America/New_York' },
      execArgv: [],
    });
    host.unref();
    host.channel!.unref();
    (host.stdout as Socket).unref();
    host.once('exit', () => delete world.commandHost);
    world.commandHost = host;
  }
  return world.commandHost;
}

/**
 * Runs a command of the admin CLI to its end, in a process that runs others too, one after the other.
 * @param options columns: of the terminal to which it prints; without them it prints to a pipe
 */
export async function petstore(
  args: string[],
  environment: Environment = {},
  { cwd = tmpdir(), columns }: { cwd?: string; columns?: number } = {},
): Promise<Outcome> {
  const run = async () => {
    const host = commandHost();
    host.channel!.ref();
    const settled = new Promise<Outcome>((resolve, reject) => {
      const ended = () =>
        reject(new Error(`petstore ${args.join(' ')} has ended the process of all commands`));
      host.once('exit', ended);
      host.once('message', (outcome: Outcome) => {
        host.off('exit', ended);
        resolve(outcome);
      });
    });
    host.send({ args, environment: cleanEnvironment(environment), cwd, columns });
    return within(`petstore ${args.join(' ')}`, settled).finally(() => host.channel?.unref());
  };
  const outcome = (world.lastCommand ?? Promise.resolve()).then(run, run);
  world.lastCommand = outcome;
  return outcome;
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
