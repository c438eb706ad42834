import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { StoreOpener, interrupted } from '#libs/command-line';
import { assertKnownMigrations, migrationStates } from '#libs/database';
import { OperatorError } from '#libs/messages';
import { readSettings } from '../all-settings';
import { PETSTORE } from '../program';
import { COMMAND_POOL, dataSourceOptions, migrateToNewest } from '../store/data-source';
import { type OpenDatabase, openDatabase } from '../store/open-database';

/** The databases that the command has opened, until `closeCommandDatabases` stops their servers. */
const opened: Promise<OpenDatabase>[] = [];

/**
 * Opens the database for a command, whether or not the database lacks migrations. Commands that use the tables of the
 * features call `CommandDatabase.open` instead, which calls this function and then checks the migrations. `db migrate`,
 * `db status` and `db copy` call this function directly, because these commands work with a database that lacks
 * migrations. The command `status` does not call this function, because `status` must not start an embedded server.
 */
export function openCommandDatabase(
  settings: Parameters<typeof openDatabase>[0] = readSettings(process.env),
  { mayCreate } = { mayCreate: false },
): Promise<OpenDatabase> {
  const opening = openDatabase(settings, { log: () => undefined, mayCreate });
  opened.push(opening);
  return opening;
}

export async function closeCommandDatabases(): Promise<void> {
  await Promise.all(opened.splice(0).map(async (opening) => (await opening.catch(() => undefined))?.stop()));
}

/**
 * Opens the database for commands that use the tables of the features. Connects the data source that Nest injects into
 * the services of the features.
 */
@Injectable()
export class CommandDatabase extends StoreOpener {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  /**
   * Opens the database for a command. If the database is embedded, also runs its pending migrations.
   * @throws OperatorError if another database than the embedded one lacks migrations
   */
  async open(): Promise<void> {
    const { url, isEmbedded } = await Promise.race([openCommandDatabase(), interrupted]);
    if (isEmbedded) {
      await migrateToNewest(url, () => undefined);
    }
    await this.dataSource.setOptions(dataSourceOptions(url, COMMAND_POOL)).initialize();
    await assertKnownMigrations(this.dataSource.manager);
    if (!isEmbedded && (await migrationStates(this.dataSource)).some(({ state }) => state === 'pending')) {
      const message = `The database of DATABASE_URL is not up to date. Run: ${PETSTORE} db migrate`;
      throw new OperatorError(message, 'database_behind');
    }
  }
}
