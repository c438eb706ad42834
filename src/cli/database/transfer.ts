// What backup, restore and copy have in common.
import { DataSource, type EntityManager } from 'typeorm';
import { DamagedArchiveError, NothingToArchiveError, UnsuitableArchiveError } from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { RUNNING_INSTANCES, type RunningInstance } from '../../modules/quotas';
import { dataSourceOptions } from '../../runtime/data-source';
import { StartError } from '../../runtime/failures';
import { CommandFailure, UsageError } from '../command/command-failure';
import { ReaderGoneError } from '../command/output-file';

const MIN_POSTGRES = 15;
/** One connection for the transfer, and one to cancel it. */
const POOL = 2;
/** Longer than a request waits: a command on a busy machine had better be late than fail. */
const CONNECT_TIMEOUT_MS = 20_000;

/** Failures that say themselves what to do. */
const EXPLAINED = [CommandFailure, UsageError, ReaderGoneError, StartError, EmbeddedPostgresError];

/** @param onRefused is called with the error if there is no connection, and throws a better one */
export async function withConnection<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
  onRefused?: (error: unknown) => never,
): Promise<Result> {
  const options = { ...dataSourceOptions(url, POOL, CONNECT_TIMEOUT_MS), entities: [] };
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    onRefused?.(error);
    throw error;
  });
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

export async function isServiceRunning(reader: EntityManager | DataSource): Promise<boolean> {
  return (await reader.query<RunningInstance[]>(RUNNING_INSTANCES)).length > 0;
}

/** @throws CommandFailure if nothing can be loaded into this database now */
export async function assertSuitableTarget(target: EntityManager): Promise<void> {
  const [version] = await target.query<{ number: string }[]>(
    `SELECT current_setting('server_version_num') AS number`,
  );
  const major = Math.floor(Number(version!.number) / 10_000);
  if (major < MIN_POSTGRES) {
    throw new CommandFailure(`the target is PostgreSQL ${major}; it must be ${MIN_POSTGRES} or newer.`);
  }
  if (await isServiceRunning(target)) {
    throw new CommandFailure('the service runs on the target; stop it first.');
  }
}

/**
 * Explains the failure of a transfer in one line.
 * @param failed what failed and what is left: `the copy failed, and the target is still empty`
 */
export async function explained<Result>(
  failed: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw EXPLAINED.some((kind) => error instanceof kind)
      ? error
      : new CommandFailure(`${failed}: ${reasonOf(error)}.`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NothingToArchiveError) {
    return 'the database contains no store';
  }
  if (error instanceof UnsuitableArchiveError) {
    return `the backup does not fit: ${error.message}`;
  }
  const { code } = error as NodeJS.ErrnoException;
  // A complete archive ends with the checksum of its compression.
  const isDamaged = error instanceof DamagedArchiveError || code?.startsWith('Z_') === true;
  return isDamaged ? `this is not a backup, or it is damaged: ${messageOf(error)}` : messageOf(error);
}

/** The error of a connection to several addresses has no message. */
export function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || (code ?? String(error))).replace(/\.$/, '');
}

/** `host:port/name`, without user and password. */
export function locationOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
