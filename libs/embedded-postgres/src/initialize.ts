import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account';
import { syncFolder } from './data-folder';
import { EmbeddedPostgresError } from './errors';
import type { Placement } from './placement';
import { type ProgramEnd, reasonIn, runProgram } from './program';

/** The role which owns everything in the cluster. */
export const USER = 'postgres';

/** A cluster in the making, or a file before its rename. */
const UNFINISHED = /^init-[0-9a-f]{12}$|\.[0-9a-f]{12}\.tmp$/;

export interface InitializeOptions {
  placement: Placement;
  initdb: string;
  account: Account | undefined;
  password: string;
  /** False leaves out fsync, for a server which does without it anyway. */
  sync: boolean;
}

/**
 * Makes a new cluster: UTF8, C.UTF-8 of PostgreSQL's own provider (the same order on every system), SCRAM for
 * every connection, data checksums. It appears under its name by a rename once it is complete and on disk, so
 * an initdb which was interrupted leaves only a folder for `removeLeftovers`.
 *
 * @throws EmbeddedPostgresError with the reason of initdb
 */
export async function initialize(options: InitializeOptions): Promise<void> {
  const { placement, account } = options;
  const staging = join(placement.base, `init-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(staging, { mode: 0o700 });
  try {
    // The server's account may not read the password file of root, and argv is for everybody to read.
    const passwordFile = join(staging, 'password');
    fs.writeFileSync(passwordFile, `${options.password}\n`, { flag: 'wx', mode: 0o600 });
    for (const path of account ? [passwordFile, staging] : [])
      fs.lchownSync(path, account!.uid, account!.gid);
    const end = await runInitdb(options, join(staging, 'data'), passwordFile);
    if (end.status !== 0) {
      throw new EmbeddedPostgresError(
        `cannot create a database in ${placement.base}: initdb failed: ${reasonIn(end.output)}`,
      );
    }
    fs.renameSync(join(staging, 'data'), placement.cluster);
    syncFolder(placement.base);
  } finally {
    remove(staging);
  }
}

async function runInitdb(
  options: InitializeOptions,
  data: string,
  passwordFile: string,
): Promise<ProgramEnd> {
  // The provider decides how text is compared. The system's locale matters little, and not all have C.UTF-8.
  const locales = process.platform === 'linux' ? ['C.UTF-8', 'C'] : ['C'];
  let end: ProgramEnd | undefined;
  for (const locale of locales) {
    const args = ['-D', data, '-U', USER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '-E', 'UTF8'];
    args.push(
      `--locale=${locale}`,
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    );
    if (!options.sync) args.push('--no-sync');
    end = await runProgram(options.initdb, args, options.account);
    if (!end.output.includes('invalid locale')) return end;
  }
  return end!;
}

/** Removes what interrupted starts left. To be used under the lock only. */
export function removeLeftovers(base: string): void {
  for (const name of fs.readdirSync(base)) {
    if (UNFINISHED.test(name)) remove(join(base, name));
  }
}

function remove(path: string): void {
  try {
    fs.rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  } catch {
    // An initdb whose parent was killed may still be writing there; the next start removes the rest.
  }
}
