import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installation } from './installation';
import { SpawnedProcess } from './spawned-process';

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

/** The environment of a process of the service. It has only PATH and HOME of the developer's own, and no fixed port. */
export function cleanEnvironment(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, PORT: '0', METRICS_PORT: 'off', DATA_DIR: '/nonexistent/petstore', ...environment };
}

export function petstoreScript(folder = installation()): string {
  return join(folder, 'bin', 'petstore.js');
}

/** A command of the admin CLI in a process of its own, to which a test can write and send signals. */
export class RunningCommand extends SpawnedProcess {
  constructor(args: string[], environment: Environment = {}, options: RunOptions = {}) {
    const { cwd = tmpdir(), installation: folder, node = [] } = options;
    super([process.execPath, ...node, petstoreScript(folder), ...args], {
      cwd,
      // A time zone other than UTC, so that a test sees it if a command prints local time.
      env: cleanEnvironment({ TZ: 'America/New_York', ...environment }),
      // Only for a command that hangs.
      timeout: 250_000,
      killSignal: 'SIGKILL',
    });
  }

  /** Waits until the command has ended, after this signal if one is given. */
  async outcome(signal?: NodeJS.Signals): Promise<Outcome> {
    const { code } = await (signal ? this.end(signal) : this.ended);
    return { code, stdout: this.stdout, stderr: this.stderr };
  }
}

/** Runs a command to its end. */
export function petstore(args: string[], environment?: Environment, options?: RunOptions): Promise<Outcome> {
  return new RunningCommand(args, environment, options).outcome();
}

/** The outcome of a command that prints one line on standard error, which matches `line`, and nothing on standard output. */
export function complaint(code: 1 | 2, line: RegExp): Outcome {
  const oneLine = new RegExp(`^petstore: (?=[^\\n]*(?:${line.source}))[^\\n]+\\n$`);
  return { code, stdout: '', stderr: expect.stringMatching(oneLine) as string };
}
