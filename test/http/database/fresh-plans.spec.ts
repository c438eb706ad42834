import { DataSource } from 'typeorm';
import type { ClientBase } from 'pg';
import { poolOf } from '#libs/database';
import { useStore } from '../../support/use-service';
import { type Reading, readingOfPrepared } from './support/plans';
import { type SentStatement, RecordedStatements } from './support/recorded-statements';

// A new store has no statistics yet. Its statements are prepared while its tables are empty, and the plans are kept
// while the tables grow and their rows are updated, until PostgreSQL analyses them at some time.

const PETS = 10_000;
/** A page of 20 and the row after it, for each of three statuses, in pets and in the stock. */
const PAGE_ROWS = 3 * 2 * 21;

const PAGES = [
  '/pets',
  '/pets?status=available',
  '/pets?status=sold&status=pending',
  '/pets?status=available&status=pending&status=sold',
  '/pets?categoryId=1',
  '/pets?categoryId=1&status=available',
  '/categories',
  '/store/inventory',
  '/store/inventory?status=available',
  '/store/inventory?status=available&status=sold',
  '/store/orders',
  '/store/orders?complete=false',
  '/store/orders?petId=1',
  '/store/orders?petId=1&complete=false',
];
const ROWS = ['/pets/9000', '/categories/1', '/store/orders/9000', '/store/inventory/9000'];

/** Statistics never come. */
const NEVER_ANALYSED = ['pets', 'orders', 'inventory', 'categories'].map(
  (table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`,
);
/** A few hundred pets fill a page of one index and two of another: then walking and sorting seem to cost the same. */
const FEW = 300;

const filling = (count: number) => [
  `INSERT INTO categories (name) SELECT 'category ' || n FROM generate_series(1, ${count}) n`,
  `INSERT INTO pets (name, category_id, status) SELECT 'pet ' || n, 1, 'available' FROM generate_series(1, ${count}) n`,
  `INSERT INTO inventory (pet_id, quantity) SELECT id, 1 FROM pets ON CONFLICT DO NOTHING`,
  `INSERT INTO orders (pet_id, quantity) SELECT 1, 1 FROM generate_series(1, ${count})`,
];
const UPDATES = [
  `UPDATE pets SET name = name || '!'`,
  `UPDATE orders SET quantity = quantity + 1`,
  `UPDATE inventory SET quantity = quantity + 1`,
];

describe('statements that were prepared on empty tables', () => {
  const { service, caller } = useStore({ settings: { databasePool: 2 } });
  const sent = new Map<string, SentStatement[]>();

  /** The connections of the service's pool. They are not taken from it: a statement may wait for another's. */
  function connections(): ClientBase[] {
    const pool: unknown = poolOf(service.app.get(DataSource));
    return (pool as { _clients: ClientBase[] })._clients;
  }

  async function change(statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      await service.database.pool.query(statement);
    }
  }

  beforeAll(async () => {
    await change(NEVER_ANALYSED);
    const statements = new RecordedStatements();
    for (const target of [...PAGES, ...ROWS]) {
      // From the sixth time on, PostgreSQL may use a plan for any values.
      for (let time = 0; time < 8; time += 1) {
        const seen = await statements.during(() => caller.get(target));
        sent.set(
          target,
          seen.filter(({ text }) => !text.includes('api_keys')),
        );
      }
    }
    statements.stop();
  });

  /** Those that read more rows than a page needs, or a whole table, with the plan that a connection keeps for them. */
  async function badPlans(): Promise<unknown[]> {
    const bad: unknown[] = [];
    for (const [target, statements] of sent) {
      const rows = PAGES.includes(target) ? PAGE_ROWS : 2;
      const found: (Reading | undefined)[] = [];
      for (const client of connections()) {
        for (const statement of statements) {
          found.push(await readingOfPrepared(client, statement));
        }
      }
      const readings = found.filter((reading) => reading !== undefined);
      const excessive = readings.filter((reading) => reading.rows > rows || reading.scannedTables.length > 0);
      bad.push(...(readings.length === 0 ? [`${target} was not prepared`] : []), ...excessive);
    }
    return bad;
  }

  it('read no more rows than a page needs, planned for a small store and kept while it grows and changes', async () => {
    await change(filling(FEW));
    await Promise.all(connections().map((client) => client.query('DISCARD PLANS')));
    expect(await badPlans()).toEqual([]);

    await change(filling(PETS - FEW));
    expect(await badPlans()).toEqual([]);
    await Promise.all(connections().map((client) => client.query('DISCARD PLANS')));
    expect(await badPlans()).toEqual([]);

    // 100,000 updates, with plans from before and with new ones.
    await change(Array.from({ length: 4 }, () => UPDATES).flat());
    expect(await badPlans()).toEqual([]);
    await Promise.all(connections().map((client) => client.query('DISCARD PLANS')));
    expect(await badPlans()).toEqual([]);

    // One that sorts all rows would have been found.
    const text = `SELECT id FROM pets WHERE status >= $1 AND status <= $1 ORDER BY name LIMIT 21`;
    const [client] = connections();
    await client!.query({ name: 'planted', text, values: ['available'] });
    expect(await readingOfPrepared(client!, { text, values: ['available'] })).toMatchObject({ rows: PETS });
  });
});
