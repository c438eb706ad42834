import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { SubCommand } from 'nest-commander';
import type { DataSource, EntityManager } from 'typeorm';
import {
  type ArchiveHeader,
  ArchiveReader,
  DamagedArchiveError,
  assertReadable,
  loadArchive,
  migrationStates,
  writeArchive,
} from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { MIGRATIONS } from '../../migrations';
import { RUNNING_INSTANCES } from '../../modules/quotas';
import { EnvironmentError } from '../../runtime/environment';
import { StartError } from '../../runtime/failures';
import { PETSTORE, formatError } from '../../runtime/messages';
import { openDatabase } from '../../runtime/open-database';
import { VERSION } from '../../runtime/version';
import { WEBHOOK_KEY_FILE, keyIn, replaceWebhookKey, webhookKeyFile } from '../../runtime/webhook-key';
import { type Settings, readSettings } from '../../settings';
import { ResultCommand } from '../command/command';
import { CommandFailure, UsageError } from '../command/failure';
import { openInput, readInput, writeFile } from '../command/files';
import { confirm, interruptible } from '../command/operator';
import { Flag, Value } from '../command/option';
import { withConnection, withDatabase } from '../command/store';
import { counted, inUnits, isForPeople, print, printDone, printMany } from '../output/output';
import { withProgress } from '../output/progress';
import { locationOf } from './status.command';

const MADE_BY = `petstore ${VERSION}`;
/** A backup contains everything, including the key of the webhooks' secrets. */
const OWNER_ONLY = 0o600;
/** Compresses about a quarter as fast as a disk writes; higher levels take several times as long for a few percent. */
const COMPRESSION = 1;

@SubCommand({
  name: 'backup',
  arguments: '<file>',
  argsDescription: { file: 'file to write; - for standard output' },
  description: 'write a backup of the store, while the service runs',
})
export class BackupCommand extends ResultCommand {
  protected override readonly examples = [
    'db backup store.tar.gz',
    "db backup - | ssh host 'cat > store.tar.gz'",
  ];

  @Flag('--force', 'overwrite an existing file') force = false;

  async run([file = '']: string[]): Promise<void> {
    const toStandardOutput = file === '-';
    if (toStandardOutput && process.stdout.isTTY) {
      throw new UsageError(
        'a backup cannot be written to a terminal: name a file, or pipe it to another program.',
      );
    }
    const outcome = toStandardOutput ? 'the backup is not complete' : `${file} was not written`;
    const { header, bytes } = await transfer('backup', outcome, (signal) =>
      withDatabase((url) =>
        writeFile(file, { overwrite: this.force, mode: OWNER_ONLY }, (write) => backUp(url, write, signal)),
      ),
    );
    const { startedAt, postgres } = header;
    const rows = rowsOf(header);
    const text = `Backed up ${counted(rows, 'row', 'rows')}, as ${inUnits(bytes)}: everything up to ${startedAt}.`;
    if (toStandardOutput) {
      process.stderr.write(`${text}\n`);
    } else {
      await printDone(text, { file, bytes, rows, postgres, startedAt }, this);
    }
  }
}

async function backUp(url: string, write: (chunk: Buffer) => Promise<void>, signal: AbortSignal) {
  let bytes = 0;
  const writeAll = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await write(chunk);
      bytes += chunk.length;
    }
  };
  const attachments = await webhookKeyFile(readSettings(process.env));
  return withConnection(url, (source) =>
    showRows('Backing up', (onRows) =>
      writeArchive(source, { madeBy: MADE_BY, attachments, signal, onRows }, async (archive, header) => {
        await pipeline(archive, createGzip({ level: COMPRESSION }), writeAll, { signal });
        return { header, bytes };
      }),
    ),
  );
}

@SubCommand({
  name: 'restore',
  arguments: '<file>',
  argsDescription: { file: 'a backup; - for standard input' },
  description: 'load a backup, all or nothing; the service must be stopped',
})
export class RestoreCommand extends ResultCommand {
  protected override readonly examples = ['db restore store.tar.gz', 'db restore --yes store.tar.gz'];

  @Flag('-y, --yes', 'replace the store that is there, without asking') yes?: boolean;

  async run([file = '']: string[]): Promise<void> {
    const settings = readSettings(process.env);
    const { databaseUrl, dataDirectory } = settings;
    const location = databaseUrl === undefined ? dataDirectory : locationOf(databaseUrl);
    const { header, needsKey } = await transfer('restore', 'nothing was changed', async (signal) => {
      const source = readInput(await openInput(file), signal, () => undefined);
      return pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
        const archive = await ArchiveReader.open(unpacked, [WEBHOOK_KEY_FILE]);
        const confirmed = () => confirm(`This replaces the store in ${location}. Continue?`, this.yes);
        return { header: archive.header, needsKey: await restore(archive, settings, confirmed, signal) };
      });
    });
    const { startedAt, madeBy } = header;
    const rows = rowsOf(header);
    const text = `Restored ${counted(rows, 'row', 'rows')} to ${location}: the store as it was at ${startedAt} or moments later. Start it: ${PETSTORE} serve`;
    await printDone(text, { location, startedAt, madeBy, rows }, this);
    if (needsKey) {
      askForKey('webhook.key of the backup');
    }
  }
}

/**
 * Checks what has been read of the archive before it opens, and maybe creates, the database.
 * @param confirmed asks whether to replace a store
 * @returns whether the secrets of webhooks need a key that the store is not configured with
 */
async function restore(
  archive: ArchiveReader,
  settings: Settings,
  confirmed: () => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const known = MIGRATIONS.map((Migration) => new Migration().name!);
  assertReadable(archive.header, known);
  const { databaseUrl, dataDirectory, webhookKey } = settings;
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
  const database = await openDatabase(settings, () => undefined, true);
  try {
    await withConnection(database.url, async (target) => {
      const replace = (await migrationStates(target)).some(({ state }) => state === 'done');
      if (replace) {
        await confirmed();
      }
      await showRows('Restoring', (onRows) =>
        loadArchive(target, archive, { replace, assertUnused, beforeCommit, signal, onRows }),
      ).catch(async (error: unknown) => {
        await putKeyBack();
        throw error;
      });
    });
  } finally {
    await database.close();
  }
  return key !== undefined && !keepsKeyFile && webhookKey?.toString('base64') !== key.trim();
}

function emptyDatabaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\/./.test(text) || !URL.canParse(text)) {
    // Do not print the value: it may contain a password.
    throw new UsageError('--to takes a URL that starts with postgres:// or postgresql://.');
  }
  return text;
}

@SubCommand({
  name: 'copy',
  description: 'copy everything to an empty PostgreSQL, all or nothing; stop the service first',
})
export class CopyCommand extends ResultCommand {
  protected override readonly examples = ['db copy --to postgres://petstore@db.example:5432/petstore'];

  @Value(
    '--to <url>',
    'an empty database, postgres://user@host:5432/name; PGPASSWORD may hold the password',
    emptyDatabaseUrl,
    { required: true },
  )
  to!: string;

  async run(): Promise<void> {
    const settings = readSettings(process.env);
    const hasKey = WEBHOOK_KEY_FILE in (await webhookKeyFile(settings));
    const header = await transfer('copy', 'the target was not changed', (signal) =>
      withDatabase((url) => withConnection(url, (source) => copy(source, this.to, signal))),
    );
    const tables = header.tables.map(({ name, rows }) => ({ table: name, rows }));
    await printMany(tables, this, 'There are no tables.');
    if (isForPeople(this)) {
      const rows = counted(rowsOf(header), 'row', 'rows');
      print(`\nCopied ${rows}; the counts agree. Set DATABASE_URL to the new database.`);
    }
    if (hasKey) {
      askForKey(join(settings.dataDirectory, WEBHOOK_KEY_FILE));
    }
  }
}

/** A backup and a restore at once. */
async function copy(source: DataSource, to: string, signal: AbortSignal): Promise<ArchiveHeader> {
  const run = async (target: DataSource) => {
    if (await isServiceRunning(source)) {
      const warning = 'warning: the service runs on this store; what it writes from now on is not copied.';
      process.stderr.write(formatError(warning));
    }
    return showRows('Copying', (onRows) =>
      writeArchive(source, { madeBy: MADE_BY, signal }, async (archive, header) => {
        await loadArchive(target, await ArchiveReader.open(archive), { assertUnused, signal, onRows });
        return header;
      }),
    );
  };
  return withConnection(
    to,
    run,
    (error) => new CommandFailure(`the database of --to cannot be used: ${messageOf(error)}.`),
  );
}

/** On standard error: standard output may be for a program. */
function askForKey(file: string): void {
  process.stderr.write(
    `The secrets of webhooks are encrypted with the key in ${file}: set WEBHOOK_KEY to its text.\n`,
  );
}

function rowsOf({ tables }: ArchiveHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function showRows<Result>(
  title: string,
  work: (onRows: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  return withProgress({ title, noun: 'rows', stream: process.stderr }, (show) =>
    work((done, total) => show({ done, total, count: done })),
  );
}

async function isServiceRunning(reader: EntityManager | DataSource): Promise<boolean> {
  return (await reader.query<object[]>(RUNNING_INSTANCES)).length > 0;
}

/** @throws CommandFailure if the service runs on the target */
async function assertUnused(target: EntityManager): Promise<void> {
  if (await isServiceRunning(target)) {
    throw new CommandFailure('the service runs on the target; stop it first.');
  }
}

/** Failures that say themselves what to do. */
const EXPLAINED = [CommandFailure, StartError, EnvironmentError, EmbeddedPostgresError];

/**
 * Lets Ctrl-C end a transfer, and explains its failure in one line.
 * @param outcome what is left then: `nothing was changed`
 */
function transfer<Result>(
  name: string,
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return interruptible(outcome, async (signal) => {
    try {
      return await work(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw EXPLAINED.some((kind) => error instanceof kind)
        ? error
        : new CommandFailure(`the ${name} failed, and ${outcome}: ${reasonOf(error)}.`);
    }
  });
}

function reasonOf(error: unknown): string {
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
