import { randomInt } from 'node:crypto';
import { DataSource } from 'typeorm';
import {
  type CopiedTable,
  CopyMismatchError,
  type CopyOptions,
  catalogTables,
  copyDatabase,
} from '#libs/database';
import { dataSourceOptions } from '../../runtime/data-source';
import { connectStore, withDatabase } from '../command/administration';
import { CommandFailure } from '../command/command-failure';

const OLDEST_VERSION = 15;
/** One connection for the copy, and one to cancel it. */
const POOL = 2;

/**
 * Copies the configured store to an empty database.
 * @throws CommandFailure if the target is not suitable or the copy fails; the target stays empty
 */
export function copyStore(to: string, options: CopyOptions): Promise<CopiedTable[]> {
  return withDatabase(async (_url, sourceOptions, embedded) => {
    const source = await connectStore(sourceOptions, embedded);
    try {
      const target = await connectTarget(to);
      try {
        await assertFit(source, target);
        return await copy(source, target, options);
      } finally {
        await target.destroy();
      }
    } finally {
      await source.destroy();
    }
  });
}

async function connectTarget(to: string): Promise<DataSource> {
  try {
    return await new DataSource({ ...dataSourceOptions(to, POOL), entities: [] }).initialize();
  } catch (error) {
    throw new CommandFailure(`the database of --to cannot be used: ${messageOf(error)}.`);
  }
}

async function copy(source: DataSource, target: DataSource, options: CopyOptions): Promise<CopiedTable[]> {
  try {
    const tables = await copyDatabase(source, target, options);
    // Without statistics PostgreSQL would plan for nearly empty tables.
    await target.query('ANALYZE');
    return tables;
  } catch (error) {
    options.signal?.throwIfAborted();
    const failure = error instanceof CopyMismatchError ? error.message : `${messageOf(error)}.`;
    throw new CommandFailure(`the copy failed, and the target is still empty: ${failure}`);
  }
}

async function assertFit(source: DataSource, target: DataSource): Promise<void> {
  const [version] = await target.query<{ number: string }[]>(
    `SELECT current_setting('server_version_num') AS number`,
  );
  const major = Math.floor(Number(version!.number) / 10_000);
  if (major < OLDEST_VERSION) {
    throw new CommandFailure(`the target is PostgreSQL ${major}; it must be ${OLDEST_VERSION} or newer.`);
  }
  if (await isSameDatabase(source, target)) {
    throw new CommandFailure('the target is the same database as the source.');
  }
  const [table] = await catalogTables(target.manager);
  if (table !== undefined) {
    throw new CommandFailure(`the target is not empty: it has the table ${table.name}.`);
  }
}

/** Takes a lock in one and tries it in the other: works whatever the URLs look like. */
async function isSameDatabase(source: DataSource, target: DataSource): Promise<boolean> {
  const lock = randomInt(2 ** 47);
  return source.transaction(async (holder) => {
    await holder.query('SELECT pg_advisory_xact_lock($1)', [lock]);
    const [row] = await target.query<{ free: boolean }[]>('SELECT pg_try_advisory_xact_lock($1) AS free', [
      lock,
    ]);
    return !row!.free;
  });
}

/** The error of a connection to several addresses has no message. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || (code ?? String(error))).replace(/\.$/, '');
}
