import {
  type ChildProcessWithoutNullStreams,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { within } from './eventually';

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A program in a process of its own. Everything that the program prints is kept. */
export class SpawnedProcess {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  /** Resolves when the process has ended and its output is complete. */
  readonly ended: Promise<Ending>;
  private hasEnded = false;
  private readonly name: string;

  constructor([program = '', ...args]: string[], options: SpawnOptionsWithoutStdio = {}) {
    this.name = basename(program);
    this.child = spawn(program, args, options);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    // A test may write to a process that has already ended.
    this.child.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        this.hasEnded = true;
        resolve({ code, signal });
      });
    });
  }

  /** The complete lines of standard output. */
  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  /** Waits until standard output has a text that `find` finds. @throws Error with the output if the process ends without that text */
  async printed<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.hasEnded) throw new Error(`${this.name} has ended: ${this.stderr}${this.stdout}`);
      const more = once(this.child.stdout, 'data');
      await within(`the output of ${this.name}`, Promise.race([more, this.ended]));
    }
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return within(`the end of ${this.name} after ${signal}`, this.ended);
  }
}
