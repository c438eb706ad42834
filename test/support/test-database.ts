import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { digestOf, newApiKey } from '../../src/modules/auth/api-key';
import { beforeTests } from './before-tests';
import { query } from './query';

export interface TestDatabase {
  url: string;
  /** Connections for the queries of tests. */
  pool: Pool;
  drop(): Promise<void>;
}

async function administer(statement: string): Promise<void> {
  const url = new URL(process.env.TEST_POSTGRES_URL!);
  url.pathname = '/postgres';
  await query(url.href, statement);
}

/**
 * Creates a database: a clone of the migrated template or, of `template0`, an empty one.
 * @param locale options of CREATE DATABASE, which only a clone of `template0` may have
 */
export async function createTestDatabase(template = 'template', locale = ''): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy ${locale}`);
  const url = new URL(process.env.TEST_POSTGRES_URL!);
  url.pathname = `/${name}`;
  const pool = new Pool({ connectionString: url.href, max: 2 });
  // The database may be dropped before the server has ended the connection.
  pool.on('error', () => undefined);
  return {
    url: url.href,
    pool,
    drop: async () => {
      await pool.end();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A database for all tests of the file, or of the `describe`, that calls this: created before them, dropped after them. */
export function useDatabase(template?: string, locale?: string): TestDatabase {
  return beforeTests(
    () => createTestDatabase(template, locale),
    (database) => database.drop(),
  );
}

/** Databases for tests of the file, or of the `describe`, that calls this, created when a test asks for them and dropped at the end. */
export function useDatabases(): typeof createTestDatabase {
  const databases: TestDatabase[] = [];
  afterAll(() => Promise.all(databases.map((one) => one.drop())));
  return async (...options) => {
    const database = await createTestDatabase(...options);
    databases.push(database);
    return database;
  };
}

/** Inserts a client whose limits no test reaches into the database of this URL. @returns the client's key */
export async function insertUnlimitedKey(url: string, client = 'load'): Promise<string> {
  const key = newApiKey();
  const statement = `WITH client AS (
    INSERT INTO clients (name, plan, per_minute, per_day) VALUES ($3, 'enterprise', 1000000, 1000000) RETURNING id)
    INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, $1, $2, '{read,write}' FROM client`;
  await query(url, statement, [digestOf(key), key.slice(-4), client]);
  return key;
}
