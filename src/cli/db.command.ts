import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import type { DataSource } from 'typeorm';
import {
  CommandGroup,
  type ConfirmedOptions,
  type OutputOptions,
  Subcommand,
  confirm,
  interruptible,
  pluralized,
  print,
  printDone,
  printMany,
  printOne,
  typedPath,
  withProgress,
} from '#libs/command-line';
import { type CopiedTable, copyDatabase, migrationStates } from '#libs/database';
import { OperatorError, UsageError, shellWord } from '#libs/messages';
import type { CompanionFile } from '../feature';
import { readSettings } from '../all-settings';
import { FEATURES } from '../features';
import { QuotasService } from '../modules/quotas';
import { PETSTORE } from '../program';
import { databaseUrl } from '../settings/database-url';
import { migrateToNewest, withConnection } from '../store/data-source';
import { SeedService } from '../store/seed';
import { openCommandDatabase } from './command-database';

/**
 * Tables that `db copy` leaves out, because their rows describe only the source of the copy, namely its running
 * instances and its identity.
 */
const NOT_COPIED = ['instances', 'store_identity'];
const OUTCOME = 'the target was not changed';

@Command({ name: 'db', description: 'manage the database' })
export class DbCommand extends CommandGroup {
  @Inject() private readonly seeds!: SeedService;
  @Inject() private readonly quotas!: QuotasService;

  @Subcommand({ description: 'apply missing migrations', examples: ['db migrate'], withoutStore: true })
  async migrate(options: OutputOptions): Promise<void> {
    const report = (line: string) => process.stderr.write(`${line}\n`);
    const migrations = await migrateToNewest((await openCommandDatabase()).url, report);
    const done = migrations.length === 0 ? 'The database is up to date.' : `Done: ${migrations.join(', ')}`;
    printDone(done, { migrations }, options);
  }

  @Subcommand({
    description: 'show which migrations have run; changes nothing',
    examples: ['db status', 'db status --json'],
    withoutStore: true,
  })
  async status(options: OutputOptions): Promise<void> {
    const states = await withConnection((await openCommandDatabase()).url, migrationStates);
    printMany(states, options, 'There are no migrations.');
  }

  @Subcommand({
    description: 'add a sample catalogue and the client demo to an empty store',
    examples: ['db seed'],
  })
  async seed(options: OutputOptions): Promise<void> {
    const seeded = await this.seeds.seed();
    printOne(seeded, options);
    if (!options.json && seeded.key === null) {
      print(`\nThe client demo already existed. To issue another key: ${PETSTORE} keys issue demo`);
    }
  }

  @Subcommand({
    description: 'give a store that was restored from a dump counts and bans of its own in Redis',
    examples: ['db renew-identity', 'db renew-identity --yes'],
    takesYes: true,
  })
  async 'renew-identity'(options: ConfirmedOptions): Promise<void> {
    await confirm('Give this store request counts and bans of its own in Redis?', options.yes);
    const id = await this.quotas.renewStoreIdentity();
    printDone(
      `The new identity is ${id}. If instances of the store are running, restart them.`,
      { id },
      options,
    );
  }

  @Subcommand({
    description: 'copy the store, while it is in use, to an empty database or a new folder, all or nothing',
    examples: [
      'db copy --to /backups/2026-11-21',
      'db copy --to postgres://petstore@db.example:5432/petstore',
    ],
    declare: (command) =>
      command.requiredOption(
        '--to <target>',
        'a new folder, or an empty database: postgres://user@host:5432/name; PGPASSWORD may hold the password (required)',
      ),
    withoutStore: true,
  })
  async copy(options: OutputOptions & { to: string }): Promise<void> {
    const { to } = options;
    const url = to.includes('://') ? targetUrl(to) : undefined;
    const settings = readSettings(process.env);
    const files = FEATURES.flatMap(({ companionFile }) => companionFile?.(settings) ?? []);
    const tables = await interruptible(
      async (signal) =>
        withConnection((await openCommandDatabase()).url, (source) =>
          url === undefined ? copyToFolder(to, files, source, signal) : copyTo(url, source, signal),
        ),
      OUTCOME,
    );
    printMany(tables, options, 'There are no tables.');
    if (!options.json) {
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      const toRun = `To run the copy: DATA_DIR=${shellWord(to)} ${PETSTORE} serve`;
      const next = url === undefined ? toRun : 'Set DATABASE_URL to the new database.';
      print(`\nCopied ${pluralized(rows, 'row', 'rows')}; the counts agree. ${next}`);
    }
    if (url !== undefined) {
      files.forEach(({ hint }) => process.stderr.write(`${hint}\n`));
    }
  }
}

function targetUrl(text: string): string {
  try {
    return databaseUrl(text, '--to');
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function copyTo(url: string, source: DataSource, signal: AbortSignal): Promise<CopiedTable[]> {
  try {
    return await withConnection(url, (target) =>
      withProgress('Copying', 'rows', (bar) => {
        const onRows = (count: number, total: number) => {
          bar.setTotal(total);
          bar.update(count, { count });
        };
        return copyDatabase(source, target, { signal, leftOut: NOT_COPIED, onRows });
      }),
    );
  } catch (error) {
    throw copyFailure(error);
  }
}

function copyFailure(error: unknown): OperatorError {
  // If the error has no message, as may happen when a connection fails, show the code of the error instead.
  const { message, code } = error as NodeJS.ErrnoException;
  const reason = (message || (code ?? String(error))).replace(/\.$/, '');
  return new OperatorError(`the copy failed, and ${OUTCOME}: ${reason}.`);
}

/** Copies the store to a new folder, which has the suffix `.partial` until the copy is complete. */
async function copyToFolder(
  typed: string,
  files: readonly CompanionFile[],
  source: DataSource,
  signal: AbortSignal,
): Promise<CopiedTable[]> {
  const folder = await typedPath(typed);
  if (existsSync(folder)) {
    throw new OperatorError(`${folder} already exists; name a new folder.`);
  }
  const partial = `${folder}.${randomBytes(6).toString('hex')}.partial`;
  try {
    const database = await openCommandDatabase(
      { ...readSettings({}), dataDirectory: partial },
      { mayCreate: true },
    );
    let tables: CopiedTable[];
    try {
      tables = await copyTo(database.url, source, signal);
    } finally {
      await database.stop();
    }
    try {
      await Promise.all(files.map(({ path }) => copyFile(path, join(partial, basename(path)))));
      await rename(partial, folder);
    } catch (error) {
      throw copyFailure(error);
    }
    return tables;
  } finally {
    // Ignore an error of `rm`, because such an error would hide the reason why the copy failed.
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
  }
}
