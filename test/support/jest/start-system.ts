import {
  CHROMIUM,
  CURL,
  HAPROXY,
  PGBOUNCER,
  POSTGRESQL,
  PROMTOOL,
  PYTHON,
  REDIS,
  REQUESTS,
  ensurePrograms,
} from '../programs';
import startHttp from './start-http';

/** What the tests of whole processes need in addition: other programs. */
export default async function start(): Promise<void> {
  ensurePrograms(REDIS, HAPROXY, PGBOUNCER, POSTGRESQL, PROMTOOL, CHROMIUM, CURL, PYTHON, REQUESTS);
  await startHttp();
}
