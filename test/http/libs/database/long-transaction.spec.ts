import { DataSource } from 'typeorm';
import { Database, giveUpSilentConnection } from '#libs/database';
import { dataSourceOptions } from '../../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { until } from '../../../support/eventually';

const HURRIED_MS = 400;

let test: TestDatabase;
let dataSource: DataSource;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  const options = dataSourceOptions(test.url, 2);
  const onConnect = giveUpSilentConnection(HURRIED_MS * 2);
  const extra = { statement_timeout: HURRIED_MS, query_timeout: HURRIED_MS * 2, onConnect };
  dataSource = await new DataSource({ ...options, extra } as typeof options).initialize();
  database = new Database(dataSource);
});

afterAll(async () => {
  await dataSource.destroy();
  await test.drop();
});

const SLOW = 'SELECT pg_sleep(1)';
const sleepers = async () =>
  (
    await test.pool.query(
      `SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND state = 'active'`,
    )
  ).rowCount;
const clients = async () =>
  Number((await test.pool.query<{ count: string }>(`SELECT count(*) FROM clients`)).rows[0]!.count);
const insert = `INSERT INTO clients (name, plan) VALUES ('acme', 'free')`;

describe('a long transaction', () => {
  it('has no request timeout', async () => {
    await expect(database.transaction((transaction) => transaction.query(SLOW))).rejects.toThrow('timeout');
    await expect(database.longTransaction((transaction) => transaction.query(SLOW))).resolves.toHaveLength(1);
  });

  it('is rolled back completely when the work fails', async () => {
    const failure = new Error('no more');
    const work = database.longTransaction(async (transaction) => {
      await transaction.query(insert);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await clients()).toBe(0);
  });

  it('writes nothing when it reads a snapshot', async () => {
    const work = database.longTransaction((transaction) => transaction.query(insert), { ofSnapshot: true });
    await expect(work).rejects.toThrow('read-only transaction');
  });

  it.each([
    ['in the middle of a statement', 'SELECT pg_sleep(60)'],
    ['between its statements', undefined],
  ])('is aborted and rolled back by its signal %s', async (_when, statement) => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const work = database.longTransaction(
      async (transaction) => {
        await transaction.query(insert);
        if (statement === undefined) {
          controller.abort(reason);
        } else {
          await transaction.query(statement);
        }
      },
      { signal: controller.signal },
    );
    const rejected = expect(work).rejects.toBe(reason);
    if (statement !== undefined) {
      await until(async () => (await sleepers()) === 1);
      controller.abort(reason);
    }
    await rejected;
    expect(await clients()).toBe(0);
    expect(await sleepers()).toBe(0);
  });

  it('is aborted by its signal even between two statements, before a long one', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const sent = jest.spyOn(dataSource, 'query');
    const work = database.longTransaction(
      async (transaction) => {
        controller.abort(reason);
        await sent.mock.results[0]!.value;
        await transaction.query('SELECT pg_sleep(60)');
      },
      { signal: controller.signal },
    );
    await expect(work).rejects.toBe(reason);
    expect(await sleepers()).toBe(0);
    sent.mockRestore();
  });

  it('does not begin when its signal is already aborted', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(database.longTransaction(() => Promise.resolve(), { signal })).rejects.toThrow('too late');
  });
});
