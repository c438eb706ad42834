import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import type * as EmbeddedPostgresLibrary from '#libs/embedded-postgres';
import type * as DataSourceFile from '../../../src/store/data-source';
import { install, installed } from '../installation';
import { query } from '../query';

/**
 * Starts what the tests of a service need: an installation of it, one PostgreSQL for the whole run, and a migrated database that every
 * test file clones. Jest maps no module names here, so the service's own code comes from the installation.
 */
export default async function start(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL !== undefined) {
    return;
  }
  await install();
  const { startEmbeddedPostgres } = installed<typeof EmbeddedPostgresLibrary>('libs/embedded-postgres/src');
  const { connectAndMigrate, dataSourceOptions } = installed<typeof DataSourceFile>('src/store/data-source');
  const dataDirectory = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDirectory,
    database: 'template',
    // The data of tests need not survive a crash of the machine.
    parameters: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  Logger.overrideLogger(false);
  const dataSource = await connectAndMigrate(postgres.url, dataSourceOptions(postgres.url, { poolSize: 1 }));
  await dataSource.destroy();
  await query(postgres.url, 'ALTER DATABASE template IS_TEMPLATE true');
  process.env.TEST_POSTGRES_URL = postgres.url;
  Object.assign(globalThis, { testPostgres: postgres, testPostgresDirectory: dataDirectory });
}
