import { install } from '../installation';
import { CHROMIUM, HAPROXY, PGBOUNCER, PROMTOOL, REDIS, ensurePrograms } from '../programs';
import startPostgres from './start-postgres';

/** What the tests of whole processes need besides PostgreSQL: other programs, and an installation of the service. */
export default async function startSystem(): Promise<void> {
  ensurePrograms(REDIS, HAPROXY, PGBOUNCER, PROMTOOL, CHROMIUM);
  await install();
  if (process.env.TEST_POSTGRES_URL === undefined) await startPostgres();
}
