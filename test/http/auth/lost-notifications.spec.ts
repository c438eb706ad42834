import type { PoolClient } from 'pg';
import { KeyDirectory } from '../../../src/modules/auth';
import type { ApiClient } from '../../support/api-client';
import { query } from '../../support/query';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { type TestService, startService } from '../../support/service';
import { eventually, until } from '../../support/eventually';
import { TcpProxy } from '../../support/tcp-proxy';

let database: TestDatabase;
/** Kept open, because a test has the database accept no new ones. */
let connection: PoolClient;
/** The way of the listening connection to the database. */
let proxy: TcpProxy;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  connection = await database.pool.connect();
  proxy = await TcpProxy.start(database.url);
  service = await startService({ database, settings: { databaseDirectUrl: proxy.url } });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  connection.release();
  await database.drop();
});

function listening(): boolean {
  return service.app.get(KeyDirectory).listening;
}

/** From another database, because this one may accept no connections. */
async function administer(statement: string): Promise<object[]> {
  return query(process.env.TEST_POSTGRES_URL!, statement);
}

/** Finds the connection that listens by its last statement between two checks. */
function whereListening(): string {
  const name = new URL(database.url).pathname.slice(1);
  return `WHERE datname = '${name}' AND query ~ '^(LISTEN|SELECT FROM pg_locks)'`;
}

/** As soon as it listens: between two connections there is none. */
async function terminateListening(): Promise<void> {
  const statement = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity ${whereListening()}`;
  await until(async () => (await administer(statement)).length > 0);
}

/** A caller whose key the service has in memory, and a way to revoke it that the service is told of by the database alone. */
async function aKnownCaller(): Promise<{ caller: ApiClient; revoke: () => Promise<unknown> }> {
  const { key, keyId } = await service.issueKey();
  const caller = service.anonymous().with({ 'X-API-Key': key });
  expect((await caller.get('/rate-limit')).status).toBe(200);
  return {
    caller,
    revoke: () => connection.query(`UPDATE api_keys SET revoked_at = now() WHERE id = $1`, [keyId]),
  };
}

function isClosed(caller: ApiClient): Promise<void> {
  return until(async () => (await caller.get('/rate-limit')).status === 401);
}

it('one connection listens for the whole process', async () => {
  await eventually(async () => {
    expect(await administer(`SELECT pid FROM pg_stat_activity ${whereListening()}`)).toHaveLength(1);
  });
});

it.each([
  ['is terminated', terminateListening],
  ['dies silently', () => Promise.resolve(proxy.fallSilent())],
])(
  'a revocation applies right after the listening connection %s, and listening resumes',
  async (_how, lose) => {
    await until(() => listening());
    const first = await aKnownCaller();
    await lose();
    await first.revoke();
    await isClosed(first.caller);
    await proxy.restore();
    await until(() => listening());
    const second = await aKnownCaller();
    await second.revoke();
    await isClosed(second.caller);
  },
);

it('revocations apply while listening is impossible, and the reconnect is logged', async () => {
  const name = new URL(database.url).pathname.slice(1);
  const known = [await aKnownCaller(), await aKnownCaller(), await aKnownCaller()];
  await until(() => listening());
  await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  try {
    await terminateListening();
    await until(() => !listening());
    for (const { caller, revoke } of known) {
      // A request that would need another connection is 503.
      await until(async () => (await caller.get('/rate-limit')).status === 200);
      await revoke();
      await isClosed(caller);
    }
    expect(listening()).toBe(false);
  } finally {
    await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
  await until(() => listening());
});

it('a key in constant use stays cached while listening, without further lookups', async () => {
  const { caller } = await aKnownCaller();
  const answersWithoutKeys = async () => {
    await caller.get('/rate-limit');
    await database.pool.query(`ALTER TABLE api_keys RENAME TO away`);
    try {
      return (await caller.get('/rate-limit')).status === 200;
    } finally {
      await database.pool.query(`ALTER TABLE away RENAME TO api_keys`);
    }
  };
  // What is read while the key's own beginning is being told of is not remembered.
  await until(answersWithoutKeys);
});
