import { DataSource, type MigrationInterface } from 'typeorm';
import { MIGRATIONS, dataSourceOptions } from '../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('template1');
  await migrate(MIGRATIONS.slice(0, 1));
});
afterEach(() => database.drop());

async function migrate(migrations: (new () => MigrationInterface)[]): Promise<void> {
  const dataSource = new DataSource({ ...dataSourceOptions(database.url, 1), entities: [], migrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  await dataSource.destroy();
}

const idOf = (n: number) => String(n).padStart(32, '0');
const query = async (text: string, values?: unknown[]) =>
  (await database.pool.query(text, values)).rows as unknown;

it('The events of a store with blocks become rows, and deliveries and webhooks go on where they were', async () => {
  // Two commits; the second with two events. Everything up to its first event has been dispatched.
  const event = (n: number) => ({
    id: idOf(n),
    type: 'pet.updated',
    petId: n,
    data: { id: n, name: 'Ädä "x"' },
  });
  for (const events of [[event(1)], [event(2), event(3)]]) {
    await query(
      `INSERT INTO event_blocks (size, types, pets, events, time) VALUES ($1, 2, '{}', $2, '2026-11-21')`,
      [events.length, JSON.stringify(events)],
    );
  }
  await query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free')`);
  await query(
    `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at) VALUES (1, 'https://shop.example', true, '[]', now())`,
  );
  const dispatched = `(SELECT max(position) * 100 FROM event_blocks)`;
  await query(`UPDATE webhook_dispatch SET position = ${dispatched}`);
  await query(`UPDATE webhooks SET since = ${dispatched}`);
  await query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, payload, status, attempts, due_at, created_at)
     VALUES (1, $1, 'pet.updated', '{}', 'pending', 0, now(), now()), (1, 'evt_test_2', 'webhook.test', '{}', 'pending', 0, now(), now())`,
    [`evt_${idOf(2)}`],
  );
  await migrate(MIGRATIONS);

  const rows = `SELECT position::int, replace(id::text, '-', '') AS id, type, pet_id::int AS "petId", data::json,
    extract(epoch FROM time - '2026-11-21')::float AS later FROM events ORDER BY position`;
  expect(await query(rows)).toEqual([
    { position: 1, later: 0, ...event(1) },
    { position: 2, later: 0, ...event(2) },
    { position: 3, later: 0.000001, ...event(3) },
  ]);
  expect(await query('SELECT position::int FROM webhook_dispatch')).toEqual([{ position: 2 }]);
  expect(await query('SELECT since::int FROM webhooks')).toEqual([{ since: 2 }]);
  expect(await query('SELECT position::int FROM webhook_deliveries ORDER BY id')).toEqual([
    { position: 2 },
    { position: null },
  ]);
  // The next event follows them.
  await query(`INSERT INTO events (id, type, data) VALUES (gen_random_uuid(), 'pet.created', '{}')`);
  expect(await query('SELECT max(position)::int AS newest FROM events')).toEqual([{ newest: 4 }]);
});
