import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../../support/lock-file';

const MOST_BYTES = 64 * 1024 * 1024;

/** Runs npm in the root of the repository. @returns its standard output, whatever its exit code */
export async function npm(...args: string[]): Promise<string> {
  // Under `npm run`, npm names itself; elsewhere it is the one on the PATH.
  const { npm_execpath: script } = process.env;
  const [program, first] = script ? [process.execPath, [script]] : ['npm', []];
  try {
    const { stdout } = await promisify(execFile)(program, [...first, ...args], {
      cwd: ROOT,
      maxBuffer: MOST_BYTES,
    });
    return stdout;
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? '';
  }
}
