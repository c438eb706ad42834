import '../resolve-libs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { startEmbeddedPostgres } from '#libs/embedded-postgres';
import { connectAndMigrate, dataSourceOptions } from '../../../src/runtime/data-source';
import { query } from '../query';

/** One PostgreSQL for the whole run, and a migrated database that every test file clones. */
export default async function startPostgres(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDirectory,
    database: 'template',
    // What these tests write need not outlive a crash of the machine.
    parameters: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  Logger.overrideLogger(false);
  const dataSource = await connectAndMigrate(dataSourceOptions(postgres.url, 1), postgres.url);
  await dataSource.destroy();
  await query(postgres.url, 'ALTER DATABASE template IS_TEMPLATE true');
  process.env.TEST_POSTGRES_URL = postgres.url;
  Object.assign(globalThis, { testPostgres: postgres, testPostgresDirectory: dataDirectory });
}
