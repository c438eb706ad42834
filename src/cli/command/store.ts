import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { assertNotNewer, migrationStates } from '#libs/database';
import { PETSTORE } from '../../runtime/messages';
import { administrationOptions, migrateToNewest } from '../../runtime/data-source';
import { type OpenDatabase, openDatabase } from '../../runtime/open-database';
import { readSettings } from '../../settings';
import { CommandFailure } from './failure';

/** The store that a command works on: opened once its arguments are checked, closed when it ends. */
@Injectable()
export class Store {
  private database: OpenDatabase | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Connects the services that the command injects, once. Migrates an embedded database; any other must be up to date. */
  async open(): Promise<void> {
    if (this.database !== undefined) {
      return;
    }
    this.database = await openDatabase(readSettings(process.env), () => undefined);
    const { url, embedded } = this.database;
    if (embedded) {
      await migrateToNewest(url, () => undefined);
    }
    await this.dataSource.setOptions({ url }).initialize();
    await assertNotNewer(this.dataSource.manager);
    // Only `db migrate` and a starting server migrate a database of somebody else.
    if (!embedded && (await migrationStates(this.dataSource)).some(({ state }) => state === 'pending')) {
      const message = `The database is not up to date. Run: ${PETSTORE} db migrate`;
      throw new CommandFailure(message, { code: 'database_behind' });
    }
  }

  /** Called when the application is closed, so that nothing uses the database any more. */
  close(): Promise<void> {
    return this.database?.close() ?? Promise.resolve();
  }
}

/** For work on the database itself: opens it without checking its migrations, and closes it afterwards. */
export async function withDatabase<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const { url, close } = await openDatabase(readSettings(process.env), () => undefined);
  try {
    return await work(url);
  } finally {
    await close();
  }
}

/** Connects to a database for work on its tables as they are, which may take minutes. */
export async function withConnection<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const dataSource = await new DataSource(administrationOptions(url)).initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
