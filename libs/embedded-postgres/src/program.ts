import { spawn, type SpawnOptions } from 'node:child_process';
import { join } from 'node:path';
import type { Account } from './account';
import { codeOf, messageOf } from './errors';

/** How a program ended. `status` is undefined if it could not be run; `code` then says why. */
export interface ProgramEnd {
  status: number | undefined;
  code: string | undefined;
  output: string;
}

/** @param native the folder of the binaries */
export function programOf(native: string, name: 'initdb' | 'postgres'): string {
  return join(native, 'bin', name);
}

/**
 * Options for every program of PostgreSQL: under the account, and without the application's environment, whose PG* and
 * locale variables would change its behaviour. The working directory is entered before the account changes.
 */
export function programOptions(account: Account | undefined, cwd = '/'): SpawnOptions {
  return { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...account };
}

/** Runs a program and collects its output, at most about 64 KiB. */
export async function runProgram(
  program: string,
  args: string[],
  account: Account | undefined,
  cwd?: string,
): Promise<ProgramEnd> {
  const options = {
    ...programOptions(account, cwd),
    stdio: ['ignore', 'pipe', 'pipe'],
  } satisfies SpawnOptions;
  return new Promise((resolve) => {
    let output = '';
    const fail = (error: unknown): void => {
      resolve({ status: undefined, code: codeOf(error), output: messageOf(error) });
    };
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-65_536);
    };
    try {
      const child = spawn(program, args, options);
      child.stdout?.on('data', collect);
      child.stderr?.on('data', collect);
      child.once('error', fail);
      child.once('close', (status) => resolve({ status: status ?? -1, code: undefined, output }));
    } catch (error) {
      // Some failures, such as a forbidden uid, are thrown instead of emitted.
      fail(error);
    }
  });
}

/**
 * The line that best explains why a program failed: the last fatal one, otherwise the last error, otherwise the last.
 */
export function reasonIn(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const best =
    lines.findLast((line) => /\b(FATAL|PANIC):/.test(line)) ??
    lines.findLast((line) => /\berror\b|could not|cannot|No space left/i.test(line)) ??
    lines.at(-1);
  // A line of the server begins with its time and process.
  return best?.replace(/^.*?\b(FATAL|PANIC|ERROR|LOG):\s+/, '').trim() ?? 'it gave no reason';
}
