import { Pool } from 'pg';

/** How long a read may wait for a connection, and then for its answer, before the primary is asked. */
const CONNECT_MS = 500;
const READ_MS = 1_000;

/** Connections to a replica, opened when they are needed; each gives up a statement after a second. */
export function openReadPool(url: string, most: number): Pool {
  return new Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: READ_MS,
    query_timeout: READ_MS,
    keepAlive: true,
    application_name: 'petstore',
  });
}
