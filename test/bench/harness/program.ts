import { type ChildProcess, type StdioOptions, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../support/files';

export const RUN = join(ROOT, 'test/bench/run.js');
export const COLLECT_GARBAGE = join(__dirname, 'collect-garbage.js');

/** How long a process may take to end by itself before it is killed. */
const ENDING_MS = 5_000;
/** The first of them compiles the service. */
const COMMAND_MS = 120_000;

export type Environment = Record<string, string>;

/** None of the caller's own variables, which could configure one of the contenders. */
function cleanEnvironment(environment: Environment = {}): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NODE_ENV: 'production', ...environment };
}

/** How a program runs: in this folder, with these variables and no others. */
export interface RunOptions {
  cwd: string;
  signal: AbortSignal;
  environment?: Environment;
  timeout?: number;
}

/** Runs a program to its end; what it wrote to standard output. */
export async function output(program: string, args: string[], options: RunOptions): Promise<string> {
  const { environment, timeout = COMMAND_MS, ...rest } = options;
  const env = cleanEnvironment(environment);
  return (await promisify(execFile)(program, args, { ...rest, env, timeout, killSignal: 'SIGKILL' })).stdout;
}

/** A process that stays until it is told to end. */
export class Program {
  private readonly child: ChildProcess;
  private failure: Error | undefined;

  constructor(args: string[], cwd: string, environment: Environment, stdio: StdioOptions) {
    this.child = spawn(process.execPath, args, { cwd, env: cleanEnvironment(environment), stdio });
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
    const late = setTimeout(() => this.child.kill('SIGKILL'), ENDING_MS);
    await ended;
    clearTimeout(late);
  }
}
