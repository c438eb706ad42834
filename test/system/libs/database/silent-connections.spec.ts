import { DataSource } from 'typeorm';
import { isDatabaseUnavailable } from '#libs/database';
import { dataSourceOptions } from '../../../../src/runtime/data-source';
import { TcpProxy } from '../../../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const STATEMENT_TIMEOUT_MS = 200;
/** When a connection counts as silent with this timeout; the database itself is never silent for so long. */
const SILENCE_MS = STATEMENT_TIMEOUT_MS + 1_000;

let database: TestDatabase;
let proxy: TcpProxy;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await TcpProxy.start(database.url);
  dataSource = await connect(proxy.url);
});

/** One connection as the service has them, which the pool does not close for want of use. */
function connect(url: string): Promise<DataSource> {
  const options = dataSourceOptions(`${url}?statement_timeout=${STATEMENT_TIMEOUT_MS}`, 1);
  const extra = { ...(options.extra as object), idleTimeoutMillis: 0 };
  return new DataSource({ ...options, extra } as typeof options).initialize();
}

afterAll(async () => {
  await dataSource.destroy();
  await proxy.close();
  await database.drop();
});

const session = async (on = dataSource) =>
  (await on.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid'))[0]!.pid;

it('A statement on a connection that falls silent fails in time, and the next one uses another connection', async () => {
  const before = await session();
  proxy.fallSilent();
  const failure: unknown = await session().catch((error: unknown) => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
  await proxy.restore();
  expect(await session()).not.toBe(before);
});

it('A response that arrived while this process was busy does not count as silence', async () => {
  // The proxy would be as busy as the rest of this process.
  const direct = await connect(database.url);
  const before = await session(direct);
  const answer = session(direct);
  // Lets the statement leave, and has the answer arrive while nobody looks.
  await new Promise((resolve) => setImmediate(resolve));
  for (const end = performance.now() + SILENCE_MS * 2; performance.now() < end;);
  expect(await answer).toBe(before);
  expect(await session(direct)).toBe(before);
  await direct.destroy();
});
