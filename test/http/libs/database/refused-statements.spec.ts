import type { PoolClient } from 'pg';
import { isRefusedStatement } from '#libs/database';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

describe('A failure whose transaction has certainly had no effect', () => {
  let database: TestDatabase;
  let client: PoolClient;

  beforeAll(async () => (database = await createTestDatabase()));
  afterAll(() => database.drop());
  beforeEach(async () => {
    client = await database.pool.connect();
    client.on('error', () => undefined);
  });
  afterEach(() => client.release(true));

  const failureOf = (sql: string) =>
    client.query(sql).then(
      () => undefined,
      (error: unknown) => error,
    );

  it.each([
    ['an invalid value', 'SELECT 1 / 0'],
    ['a violated constraint', 'INSERT INTO orders (pet_id, quantity) VALUES (999999, 1)'],
    ['a trigger that raises an error', `DO $$ BEGIN RAISE EXCEPTION 'no'; END $$`],
  ])('is %s', async (_what, sql) => {
    expect(isRefusedStatement(await failureOf(sql))).toBe(true);
  });

  it.each([
    ['the end of the session', 'SELECT pg_terminate_backend(pg_backend_pid())'],
    [
      'a commit with an unknown outcome',
      `DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40003'; END $$`,
    ],
  ])('is not %s', async (_what, sql) => {
    expect(isRefusedStatement(await failureOf(sql))).toBe(false);
  });

  it('is reported by PostgreSQL itself', () => {
    expect(isRefusedStatement(Object.assign(new Error('read ENETDOWN'), { code: 'ENETDOWN' }))).toBe(false);
    expect(isRefusedStatement(undefined)).toBe(false);
  });
});
