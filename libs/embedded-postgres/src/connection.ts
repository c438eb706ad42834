import { realpathSync } from 'node:fs';
import { Client } from 'pg';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import { USER } from './initialize';

/** What somebody who listens on a port turned out to be. */
export type Answer = 'ours' | 'another' | 'not yet';

export interface Question {
  /** TCP port on 127.0.0.1. */
  port: number;
  password: string;
  /** The data directory which the server must have. */
  cluster: string;
  database: string;
}

/**
 * Asks whoever listens on the port whether it is the server of this cluster, and creates the database if it
 * is. SCRAM proves to both sides that the other knows the password; the data directory tells a copy of the
 * cluster, which has the same password, from the original.
 *
 * @throws EmbeddedPostgresError when the database cannot be created
 */
export async function askServer(question: Question): Promise<Answer> {
  const { port, password, cluster } = question;
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: USER,
    password,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    // An explicit value, since PGOPTIONS of the application's environment would count otherwise.
    options: '-c client_min_messages=warning',
    application_name: 'embedded-postgres',
  });
  // A connection which breaks also makes the query fail; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ directory: string; exists: boolean }>(
      "SELECT current_setting('data_directory') AS directory," +
        ' EXISTS (SELECT FROM pg_database WHERE datname = $1) AS exists',
      [question.database],
    );
    if (!rows[0] || realpathOf(rows[0].directory) !== realpathOf(cluster)) return 'another';
    if (!rows[0].exists) await createDatabase(client, question.database);
    return 'ours';
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    // Invalid password or authorization; everything else may pass: still starting, shutting down, refused.
    return (codeOf(error) ?? '').startsWith('28') ? 'another' : 'not yet';
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createDatabase(client: Client, database: string): Promise<void> {
  try {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  } catch (error) {
    throw new EmbeddedPostgresError(`cannot create the database "${database}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** `postgres://user:password@127.0.0.1:port/database` */
export function urlOf({ port, password, database }: Question): string {
  return `postgres://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
