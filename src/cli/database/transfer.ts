// The work of db backup, restore and copy.
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { DataSource, type EntityManager } from 'typeorm';
import {
  type ArchiveHeader,
  ArchiveReader,
  assertReadable,
  DamagedArchiveError,
  loadArchive,
  migrationStates,
  NothingToArchiveError,
  writeArchive,
} from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { MIGRATIONS } from '../../migrations';
import { RUNNING_INSTANCES, type RunningInstance } from '../../modules/quotas';
import { dataSourceOptions } from '../../runtime/data-source';
import { StartError } from '../../runtime/failures';
import { formatError } from '../../runtime/messages';
import { openDatabase } from '../../runtime/open-database';
import { VERSION } from '../../runtime/version';
import { keyIn, replaceWebhookKey, WEBHOOK_KEY_FILE, webhookKeyFile } from '../../runtime/webhook-key';
import { readSettings, type Settings } from '../../settings';
import { withDatabase } from '../command/store';
import { CommandFailure, UsageError } from '../command/command-failure';
import { confirm } from '../command/confirm';
import { openInput, readInput } from '../command/input-file';
import { openOutput, ReaderGoneError } from '../command/output-file';
import { withProgress } from '../output/progress';
import { locationOf } from './store-status';

const MADE_BY = `petstore ${VERSION}`;
const MIN_POSTGRES = 15;
/** A backup contains everything, including the key of the webhooks' secrets. */
const OWNER_ONLY = 0o600;
/** Compresses about a quarter as fast as a disk writes; higher levels take several times as long for a few percent. */
const COMPRESSION = 1;
/** One connection for the transfer, and one to cancel it. */
const POOL = 2;
/** Longer than a request waits: a command on a busy machine had better be late than fail. */
const CONNECT_TIMEOUT_MS = 20_000;

export interface Transferred {
  header: ArchiveHeader;
  rows: number;
}

/** @param outcome what is left after a failure, for its message */
export function backUp(
  file: string,
  { force, outcome, signal }: { force: boolean; outcome: string; signal: AbortSignal },
): Promise<Transferred & { bytes: number }> {
  return withDatabase(async (url) => {
    const output = await openOutput(file, force, OWNER_ONLY);
    let bytes = 0;
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) {
        await output.write(chunk);
        bytes += chunk.length;
      }
    };
    try {
      const attachments = await webhookKeyFile(readSettings(process.env));
      const header = await explained(`the backup failed, and ${outcome}`, signal, () =>
        showRows('Backing up', (onRows) =>
          withConnection(url, (source) =>
            writeArchive(
              source,
              { madeBy: MADE_BY, attachments, signal, onRows },
              async (archive, header) => {
                await pipeline(archive, createGzip({ level: COMPRESSION }), write, { signal });
                return header;
              },
            ),
          ),
        ),
      );
      await output.complete();
      return { header, rows: rowsOf(header), bytes };
    } catch (error) {
      await output.abandon();
      throw error instanceof ReaderGoneError
        ? new CommandFailure(`the reader closed the pipe; ${outcome}.`)
        : error;
    }
  });
}

interface Restoring {
  yes: boolean | undefined;
  signal: AbortSignal;
}

interface Restored extends Transferred {
  location: string;
  /** The secrets of webhooks need a key that the store is not configured with. */
  needsKey: boolean;
}

/** Reads the beginning of the archive before it opens, and maybe creates, the database. */
export async function restore(file: string, { yes, signal }: Restoring): Promise<Restored> {
  const settings = readSettings(process.env);
  const input = await openInput(file);
  const source = readInput(input, signal, () => undefined);
  return explained('the restore failed, and nothing was changed', signal, () =>
    pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
      const archive = await ArchiveReader.open(unpacked, [WEBHOOK_KEY_FILE]);
      const known = MIGRATIONS.map(({ name }) => name);
      assertReadable(archive.header, known);
      const database = await openDatabase(settings, () => undefined, true);
      try {
        return await restoreInto(database.url, archive, settings, { yes, signal });
      } finally {
        await database.close();
      }
    }),
  );
}

async function restoreInto(
  url: string,
  archive: ArchiveReader,
  settings: Settings,
  { yes, signal }: Restoring,
): Promise<Restored> {
  const { databaseUrl, dataDirectory, webhookKey } = settings;
  const { header } = archive;
  const location = databaseUrl === undefined ? dataDirectory : locationOf(databaseUrl);
  const key = archive.attachments[WEBHOOK_KEY_FILE];
  if (key !== undefined && keyIn(key) === undefined) {
    throw new CommandFailure(`${WEBHOOK_KEY_FILE} of the backup holds no key. Nothing was changed.`);
  }
  const keepsKeyFile = databaseUrl === undefined && webhookKey === undefined;
  let putKeyBack = () => Promise.resolve();
  const beforeCommit = async () => {
    if (key !== undefined && keepsKeyFile) {
      putKeyBack = await replaceWebhookKey(dataDirectory, key);
    }
  };
  await withConnection(url, async (target) => {
    const replace = (await migrationStates(target)).some(({ state }) => state === 'done');
    if (replace) {
      await confirm(`This replaces the store in ${location}. Continue?`, yes);
    }
    await showRows('Restoring', (onRows) =>
      loadArchive(target, archive, { replace, assertSuitable, beforeCommit, signal, onRows }),
    ).catch(async (error: unknown) => {
      await putKeyBack();
      throw error;
    });
  });
  const needsKey = key !== undefined && !keepsKeyFile && webhookKey?.toString('base64') !== key.trim();
  return { header, rows: rowsOf(header), location, needsKey };
}

interface Copied extends Transferred {
  /** The file with the key of the webhooks' secrets, which is not copied. */
  keyFile: string | undefined;
}

/** A backup and a restore at once. @param to the URL of an empty database */
export async function copy(to: string, signal: AbortSignal): Promise<Copied> {
  const settings = readSettings(process.env);
  const hasKey = WEBHOOK_KEY_FILE in (await webhookKeyFile(settings));
  const refuse = (error: unknown) => {
    throw new CommandFailure(`the database of --to cannot be used: ${messageOf(error)}.`);
  };
  const run = (source: DataSource, target: DataSource) =>
    showRows('Copying', (onRows) =>
      writeArchive(source, { madeBy: MADE_BY, signal }, async (archive, header) => {
        await loadArchive(target, await ArchiveReader.open(archive), { assertSuitable, signal, onRows });
        return { header, rows: rowsOf(header) };
      }),
    );
  const copied = await withDatabase((url) =>
    withConnection(url, (source) =>
      withConnection(
        to,
        async (target) => {
          if (await isServiceRunning(source)) {
            const warning =
              'warning: the service runs on this store; what it writes from now on is not copied.';
            process.stderr.write(formatError(warning));
          }
          return explained('the copy failed, and the target was not changed', signal, () =>
            run(source, target),
          );
        },
        refuse,
      ),
    ),
  );
  return { ...copied, keyFile: hasKey ? join(settings.dataDirectory, WEBHOOK_KEY_FILE) : undefined };
}

function rowsOf({ tables }: ArchiveHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function showRows<Result>(
  title: string,
  work: (onRows: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  return withProgress({ title, unit: 'rows', stream: process.stderr }, (show) =>
    work((done, total) => show({ done, total, lines: done })),
  );
}

/** @param onRefused is called with the error if there is no connection, and throws a better one */
async function withConnection<Result>(
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

async function isServiceRunning(reader: EntityManager | DataSource): Promise<boolean> {
  return (await reader.query<RunningInstance[]>(RUNNING_INSTANCES)).length > 0;
}

/** @throws CommandFailure if nothing can be loaded into this database now */
async function assertSuitable(target: EntityManager): Promise<void> {
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

/** Failures that say themselves what to do. */
const EXPLAINED = [CommandFailure, UsageError, ReaderGoneError, StartError, EmbeddedPostgresError];

/**
 * Explains the failure of a transfer in one line.
 * @param failed what failed and what is left: `the copy failed, and the target is still empty`
 */
async function explained<Result>(
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
  const { code } = error as NodeJS.ErrnoException;
  // A complete archive ends with the checksum of its compression.
  const isDamaged = error instanceof DamagedArchiveError || code?.startsWith('Z_') === true;
  return isDamaged ? `this is not a backup, or it is damaged: ${messageOf(error)}` : messageOf(error);
}

/** The error of a connection to several addresses has no message. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || (code ?? String(error))).replace(/\.$/, '');
}
