import { type ChildProcess, type StdioOptions, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export const ROOT = join(__dirname, '../../..');
export const RUN = join(ROOT, 'test/bench/run.js');
export const COLLECT_GARBAGE = join(__dirname, 'collect-garbage.js');

/** How long a process may take to end by itself before it is killed. */
const ENDING_MS = 5_000;
/** The first of them compiles the service. */
const COMMAND_MS = 120_000;

export type Environment = Record<string, string>;

/** None of the caller's own variables, which could configure one of the contenders. */
export function cleanEnvironment(environment: Environment = {}): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NODE_ENV: 'production', ...environment };
}

export function findOnPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find(existsSync);
}

export interface RunOptions {
  cwd: string;
  signal: AbortSignal;
  environment?: Environment;
  timeoutMs?: number;
}

/** Runs a program to its end; what it wrote to standard output. */
export async function output(program: string, args: string[], options: RunOptions): Promise<string> {
  const { cwd, signal, environment, timeoutMs: timeout = COMMAND_MS } = options;
  const env = cleanEnvironment(environment);
  const { stdout } = await promisify(execFile)(program, args, {
    cwd,
    env,
    signal,
    timeout,
    killSignal: 'SIGKILL',
  });
  return stdout;
}

/** A process that stays until it is told to end. */
export class Program {
  private readonly child: ChildProcess;
  private failure: Error | undefined;

  constructor(args: string[], { cwd, env, stdio }: { cwd: string; env: Environment; stdio: StdioOptions }) {
    this.child = spawn(process.execPath, args, { cwd, env, stdio });
    this.child.once('error', (error) => (this.failure = error));
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  get hasEnded(): boolean {
    return this.failure !== undefined || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async end(): Promise<void> {
    if (this.hasEnded) {
      return;
    }
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const patience = new AbortController();
    const late = sleep(ENDING_MS, undefined, { signal: patience.signal }).then(
      () => this.child.kill('SIGKILL'),
      () => undefined,
    );
    await ended;
    patience.abort();
    await late;
  }
}
