import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  type Environment,
  type Outcome,
  cleanEnvironment,
  petstoreScript,
} from '../../../support/command-line';

/** For what takes seconds on a machine that has nothing else to do. */
export const LONG_MS = 250_000;

interface Circumstances {
  environment: Environment;
  cwd: string;
  /** Arguments of node itself. */
  node?: string[];
}

/** A command that the test talks to while it runs. */
export class RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  private readonly closed: Promise<unknown[]>;

  constructor(args: string[], { environment, cwd, node = [] }: Circumstances) {
    this.child = spawn(process.execPath, [...node, petstoreScript(), ...args], {
      cwd,
      env: cleanEnvironment(environment),
      timeout: LONG_MS,
      killSignal: 'SIGKILL',
    });
    this.child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.closed = once(this.child, 'close');
    // Whoever is told to stop reads no more.
    this.child.stdin.on('error', () => undefined);
  }

  async end(signal?: NodeJS.Signals): Promise<Outcome> {
    if (signal) {
      this.child.kill(signal);
    }
    const [code] = (await this.closed) as [number | null];
    return { code, stdout: this.stdout, stderr: this.stderr };
  }
}
