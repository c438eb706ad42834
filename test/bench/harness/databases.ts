import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/embedded-postgres';
import type { CleanUp } from './clean-up';
import { read } from '../../support/files';
import { query } from '../../support/query';
import { output } from './program';

export const FEW_PETS = 1_000;
export const CATEGORIES = 100;
const STOCK = 2_000_000_000;
/** Pets in a store that is nearly empty: each of its tables is one page. */
const HARDLY_ANY_PETS = 40;
export const UPDATES = 100_000;

/** The day has the lower limit, so that it is the window that is told of: unlike the minute, it never begins anew. */
const PER_MINUTE = '2147483647';
const PER_DAY = '2000000000';

/** Each pet has stock and an order with its own id. */
function petsFrom(first: number, last: number): string[] {
  const numbers = `generate_series(${first}, ${last}) n`;
  return [
    // The foreign keys would otherwise look every row up again.
    `SET session_replication_role = replica`,
    `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
     SELECT n, 'Pet ' || n, (n - 1) % ${CATEGORIES} + 1, 'available' FROM ${numbers}`,
    `INSERT INTO inventory (pet_id, quantity) SELECT n, ${STOCK} FROM ${numbers}`,
    `INSERT INTO orders (id, pet_id, quantity) OVERRIDING SYSTEM VALUE SELECT n, n, 1 FROM ${numbers}
     ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, quantity = 1, complete = false`,
    `RESET session_replication_role`,
    ...['pets', 'orders'].map(
      (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`,
    ),
  ];
}

/** The pet that every database has under this id. */
export function petOf(id: number): { id: number; name: string; categoryId: number; status: string } {
  return { id, name: `Pet ${id}`, categoryId: ((id - 1) % CATEGORIES) + 1, status: 'available' };
}

/** Who calls: the one whose load is measured, and somebody else beside it. */
export interface Keys {
  apiKey: string;
  otherKey: string;
}

export async function temporaryFolder(cleanUp: CleanUp): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  cleanUp.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  // PostgreSQL runs as another account where this is run by root.
  await chmod(folder, 0o755);
  return folder;
}

/** One PostgreSQL as the service ships it, and in it a database for each contender. */
export class Databases {
  private count = 0;
  private readonly templates = new Map<string, Promise<Keys & { name: string }>>();

  private constructor(
    private readonly server: EmbeddedPostgres,
    private readonly folder: string,
    private readonly signal: AbortSignal,
  ) {}

  /** @param folder where the server keeps its data; one that other accounts can enter */
  static async start(folder: string, cleanUp: CleanUp, signal: AbortSignal): Promise<Databases> {
    const server = await startEmbeddedPostgres({ dataDirectory: folder, database: 'bench' });
    cleanUp.add(() => server.stop());
    return new Databases(server, folder, signal);
  }

  /**
   * A fresh database with so many pets, dropped in the end.
   * @param petstore the command line of the service whose schema it has; absent for that of the peers
   */
  async create(
    cleanUp: CleanUp,
    petstore: string | undefined,
    pets: number,
  ): Promise<Keys & { databaseUrl: string }> {
    const schema = petstore ?? 'peers';
    const made = this.templates.get(schema) ?? this.makeTemplate(petstore);
    this.templates.set(schema, made);
    const { name: template, ...keys } = await made;
    const databaseUrl = await this.createDatabase(template);
    const name = new URL(databaseUrl).pathname.slice(1);
    cleanUp.add(() => run(this.server.url, [`DROP DATABASE ${name} WITH (FORCE)`]));
    await run(databaseUrl, [...petsFrom(1, pets), `VACUUM ANALYZE`]);
    return { ...keys, databaseUrl };
  }

  private async createDatabase(template = 'template1'): Promise<string> {
    this.count += 1;
    await run(this.server.url, [`CREATE DATABASE bench_${this.count} TEMPLATE ${template}`]);
    const url = new URL(this.server.url);
    url.pathname = `/bench_${this.count}`;
    return url.href;
  }

  /** A database to be cloned, with a client for each key whose limits are too high to be reached. */
  private async makeTemplate(petstore: string | undefined): Promise<Keys & { name: string }> {
    const url = await this.createDatabase();
    const keys = petstore ? await this.migrate(url, petstore) : await enterPeers(url);
    const categories = `INSERT INTO categories (name) SELECT 'Category ' || n FROM generate_series(1, ${CATEGORIES}) n`;
    await run(url, [categories]);
    return { name: new URL(url).pathname.slice(1), ...keys };
  }

  private async migrate(url: string, program: string): Promise<Keys> {
    const how = { cwd: this.folder, signal: this.signal, environment: { DATABASE_URL: url } };
    const petstore = (...args: string[]) => output(process.execPath, [program, ...args], how);
    const issue = async (name: string) => {
      const limits = ['--plan', 'enterprise', '--per-minute', PER_MINUTE, '--per-day', PER_DAY];
      await petstore('clients', 'create', '--name', name, ...limits);
      return (JSON.parse(await petstore('keys', 'issue', '--client', name, '--json')) as { key: string }).key;
    };
    await petstore('db', 'migrate');
    return { apiKey: await issue('bench'), otherKey: await issue('other') };
  }
}

async function enterPeers(url: string): Promise<Keys> {
  const newKey = () => `psk_live_${randomBytes(18).toString('hex')}`;
  const [apiKey, otherKey] = [newKey(), newKey()];
  const enter = (key: string) => `
    WITH client AS (
      INSERT INTO clients (name, per_minute, per_day) VALUES ('${key}', ${PER_MINUTE}, ${PER_DAY}) RETURNING id)
    INSERT INTO api_keys (client_id, digest) SELECT id, '${createHash('sha256').update(key).digest('base64url')}' FROM client`;
  await run(url, [read('test/bench/peers/schema.sql'), enter(apiKey), enter(otherKey)]);
  return { apiKey, otherKey };
}

/**
 * Lets a nearly empty store become a large one under a contender that has prepared its statements: what was planned for one
 * page now meets many, and the rows that were updated are still there. Nothing is vacuumed or analysed meanwhile.
 */
export const AGE = {
  from: HARDLY_ANY_PETS,
  before: ['pets', 'inventory', 'orders'].map(
    (table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`,
  ),
  grow: (pets: number): string[] => [
    ...petsFrom(HARDLY_ANY_PETS + 1, pets),
    `UPDATE pets SET name = 'Pet ' || id WHERE id <= ${UPDATES}`,
    `UPDATE inventory SET quantity = ${STOCK} WHERE pet_id <= ${UPDATES}`,
    `UPDATE orders SET quantity = 1 WHERE id <= ${UPDATES}`,
  ],
};

/** Runs these statements in one session. */
export async function run(url: string, statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query(statement);
    }
  } finally {
    await client.end();
  }
}

/** The numbers that these expressions have, all of the same moment. */
export async function numbers(url: string, expressions: readonly string[]): Promise<number[]> {
  if (expressions.length === 0) {
    return [];
  }
  const text = `SELECT ARRAY[${expressions.map((expression) => `(${expression})::float8`).join(', ')}] AS values`;
  return (await query<{ values: number[] }>(url, text))[0]!.values;
}
