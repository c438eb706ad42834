import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHROMIUM, HAPROXY, PGBOUNCER, PROMTOOL, REDIS, ensurePrograms } from '../programs';
import startPostgres from './start-postgres';

/** What the tests of whole processes need besides PostgreSQL: other programs, and room for installations of the service. */
export default async function startSystem(): Promise<void> {
  ensurePrograms(REDIS, HAPROXY, PGBOUNCER, PROMTOOL, CHROMIUM);
  process.env.TEST_INSTALLATIONS = await mkdtemp(join(tmpdir(), 'petstore-installed-'));
  if (process.env.TEST_POSTGRES_URL === undefined) await startPostgres();
}
