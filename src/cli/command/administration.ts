import { type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ClockModule } from '#libs/clock';
import { DatabaseModule, type MigrationState, migrationStates } from '#libs/database';
import { type Actor, AuditModule } from '../../modules/audit';
import { AdministrationError } from '../../modules/auth/administration';
import { connectAndMigrate, dataSourceOptions, migrateToNewest } from '../../runtime/data-source';
import { openDatabase } from '../../runtime/open-database';
import { QuotaAdministrationModule } from '../../modules/quotas/administration';
import { asConfiguration, readSettings } from '../../settings';
import { operator } from './operator';
import { PETSTORE } from '../../runtime/messages';

/** The database lacks migrations. Only `db migrate` and a starting server apply them. */
export class DatabaseBehindError extends AdministrationError {
  constructor() {
    super(`The database is not up to date. Run: ${PETSTORE} db migrate`, 'database_behind');
  }
}

/** One connection for the command's transaction, and one for other queries. */
const POOL = 2;
/** Longer than a request waits: a command on a busy machine had better be late than fail. */
const CONNECT_TIMEOUT_MS = 20_000;

@Module({})
class AdministrationRoot {}

/** Opens the database for one command, and closes it afterwards. */
export async function withDatabase<Result>(
  work: (url: string, options: DataSourceOptions, embedded: boolean) => Promise<Result>,
): Promise<Result> {
  const settings = readSettings(process.env);
  const database = await openDatabase(settings, () => undefined);
  try {
    return await work(
      database.url,
      dataSourceOptions(database.url, POOL, CONNECT_TIMEOUT_MS),
      database.embedded,
    );
  } finally {
    await database.close();
  }
}

/**
 * Runs a command with the application's services, without its server.
 * @param reason for the audit log
 * @param further modules in addition to those for clients, keys and limits
 */
export async function withServices<Result>(
  work: (services: INestApplicationContext) => Promise<Result>,
  reason: string | undefined,
  further: readonly Type[],
): Promise<Result> {
  return withDatabase(async (url, options, embedded) => {
    const connect = (given: DataSourceOptions) => connectStore(given, embedded);
    const services = await NestFactory.createApplicationContext(
      moduleFor(url, options, connect, { ...operator(process.env), reason }, further),
      { logger: false, abortOnError: false },
    );
    try {
      return await work(services);
    } finally {
      await services.close();
    }
  });
}

/** Connects to the database. Migrates an embedded one; any other must be up to date. */
export function connectStore(options: DataSourceOptions, embedded: boolean): Promise<DataSource> {
  return embedded ? connectAndMigrate(options) : connectUpToDate(options);
}

async function connectUpToDate(options: DataSourceOptions): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  if ((await migrationStates(dataSource)).some(({ state }) => state === 'pending')) {
    await dataSource.destroy();
    throw new DatabaseBehindError();
  }
  return dataSource;
}

function moduleFor(
  url: string,
  options: DataSourceOptions,
  connect: (options: DataSourceOptions) => Promise<DataSource>,
  actor: Actor,
  further: readonly Type[],
) {
  const settings = readSettings(process.env);
  return {
    module: AdministrationRoot,
    imports: [
      ConfigModule.forRoot({ isGlobal: true, ignoreEnvFile: true, load: [asConfiguration(settings)] }),
      ClockModule,
      DatabaseModule.forRoot(url, options, connect),
      AuditModule.forRoot(actor),
      QuotaAdministrationModule,
      ...further,
    ],
  };
}

/** @returns the names of the migrations that were applied */
export function migrateDatabase(): Promise<string[]> {
  return withDatabase(migrateToNewest);
}

/** Which migrations have been applied. Read-only. */
export function migrationStatus(): Promise<MigrationState[]> {
  return withDatabase(async (_url, options) => {
    const dataSource = await new DataSource(options).initialize();
    try {
      return await migrationStates(dataSource);
    } finally {
      await dataSource.destroy();
    }
  });
}
