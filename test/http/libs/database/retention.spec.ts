import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ManualClock } from '../../../support/manual-clock';
import { Database, type ExpiredRows, Retention, olderThan } from '#libs/database';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { until } from '../../../support/eventually';

let test: TestDatabase;
let dataSource: DataSource;
const clock = new ManualClock(Date.UTC(2026, 10, 21, 23, 59, 59, 999));
const started: Retention[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  test = await createTestDatabase('template1');
  const options = { type: 'postgres', url: test.url, poolSize: 2 } as const;
  dataSource = await new DataSource(options).initialize();
  await test.pool.query('CREATE TABLE things (id int, day date)');
});
beforeEach(() => test.pool.query('TRUNCATE things'));
afterEach(() => Promise.all(started.splice(0).map((retention) => retention.onModuleDestroy())));
afterAll(async () => {
  await dataSource.destroy();
  await test.drop();
});

function keeping(options: Partial<ExpiredRows> = {}, everyMs?: number): Retention {
  const rows = { table: 'things', condition: olderThan(3), ...options };
  const retention = new Retention(new Database(dataSource), clock, [rows], everyMs);
  started.push(retention);
  return retention;
}

const add = (day: string, count = 1) =>
  test.pool.query('INSERT INTO things SELECT id, $1 FROM generate_series(1, $2) AS id', [day, count]);

async function days(): Promise<string[]> {
  const { rows } = await test.pool.query<{ day: string }>(
    `SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day FROM things ORDER BY day`,
  );
  return rows.map(({ day }) => day);
}

it('deletes what is older than the retention period, which includes today', async () => {
  for (const day of ['2026-11-18', '2026-11-19', '2026-11-21', '2026-11-22']) {
    await add(day);
  }
  expect(await keeping().deleteExpired()).toBe(1);
  expect(await days()).toEqual(['2026-11-19', '2026-11-21', '2026-11-22']);
  clock.advance(1);
  expect(await keeping().deleteExpired()).toBe(1);
  expect(await days()).toEqual(['2026-11-21', '2026-11-22']);
  clock.advance(-1);
});

it('deletes everything expired, in as many batches as that takes', async () => {
  await add('2026-01-01', 4);
  expect(await keeping({ maxRows: 2 }).deleteExpired()).toBe(4);
  await add('2026-01-01', 5);
  expect(await keeping({ maxRows: 2 }).deleteExpired()).toBe(5);
});

it('skips rows that another instance is deleting, without waiting', async () => {
  await add('2026-01-01', 3);
  const other = await test.pool.connect();
  await other.query('BEGIN');
  await other.query('SELECT FROM things WHERE id = 2 FOR UPDATE');
  expect(await keeping().deleteExpired()).toBe(2);
  await other.query('ROLLBACK');
  other.release();
  expect(await keeping().deleteExpired()).toBe(1);
});

it('a stop waits for the running batch and starts no other', async () => {
  await add('2026-01-01', 3);
  const other = await test.pool.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE things');
  const retention = keeping({ maxRows: 1 }, 1);
  retention.onApplicationBootstrap();
  const waiting = async () =>
    (await other.query(`SELECT FROM pg_locks WHERE relation = 'things'::regclass AND NOT granted`)).rowCount;
  await until(async () => (await waiting()) === 1);
  const stopped = retention.onModuleDestroy();
  await other.query('COMMIT');
  other.release();
  await stopped;
  expect((await test.pool.query('SELECT FROM things')).rowCount).toBe(2);
});
