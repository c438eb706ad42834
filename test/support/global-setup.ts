import './resolve-libs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '#libs/embedded-postgres';
import { connectAndMigrate, dataSourceOptions } from '../../src/runtime/data-source';
import { CHROMIUM, HAPROXY, REDIS, ensurePrograms } from './programs';

/** One PostgreSQL for the whole run, and a migrated database that every test file clones. */
export default async function globalSetup(): Promise<void> {
  ensurePrograms(REDIS, HAPROXY, CHROMIUM);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDirectory,
    database: 'template',
    // What these tests write need not outlive a crash of the machine.
    parameters: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  Logger.overrideLogger(false);
  const dataSource = await connectAndMigrate(dataSourceOptions(postgres.url, 1));
  await dataSource.destroy();
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`ALTER DATABASE template IS_TEMPLATE true`);
  await client.end();
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_INSTALLATIONS = await mkdtemp(join(tmpdir(), 'petstore-installed-'));
  Object.assign(globalThis, { testPostgres: postgres, testPostgresDirectory: dataDirectory });
}
