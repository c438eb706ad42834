import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, ownProcess } from './process-identity';

/**
 * Who uses the server now: one empty file per holder, `<pid>.<start>.<random>`. The name says everything, so
 * a holder is there as a whole or not at all. To be used under the lock only.
 */
export class Holders {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Adds this process once more and returns what `leave` wants. */
  join(): string {
    const name = `${ownProcess()}.${randomBytes(6).toString('hex')}`;
    writeFileSync(join(this.directory, name), '', { flag: 'wx', mode: 0o600 });
    return name;
  }

  leave(name: string): void {
    rmSync(join(this.directory, name), { force: true });
  }

  /** How many holders live. Files of processes which ended without leaving are removed. */
  count(): number {
    return readdirSync(this.directory).filter((name) => {
      const [pid, start] = name.split('.');
      if (isRunning(`${pid}.${start}`)) return true;
      rmSync(join(this.directory, name), { force: true });
      return false;
    }).length;
  }
}
