import { petstoreJson } from '../../support/command-line';
import { eventually } from '../../support/eventually';
import { PgBouncer } from '../../support/pgbouncer';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let database: TestDatabase;
let bouncer: PgBouncer;

afterAll(() => bench.clear());
afterEach(async () => {
  await bouncer.close();
  await database.drop();
});

async function behind(mode: 'session' | 'transaction'): Promise<void> {
  database = await createTestDatabase();
  bouncer = await PgBouncer.start(database.url, mode);
}

/** A service that reads, writes, and applies what a command has changed. */
async function expectToWork(service: ServiceProcess, settings: Record<string, string>): Promise<void> {
  await petstoreJson(['clients', 'create', '--name', 'acme', '--plan', 'pro'], settings);
  const { key, id } = await petstoreJson<{ key: string; id: number }>(
    ['keys', 'issue', '--client', 'acme', '--scopes', 'read,write'],
    settings,
  );
  const turns = Array.from({ length: 40 }, async (_, turn) => {
    const { status } = await service.send(key, 'POST', '/categories', { name: `category ${turn}` });
    const read = await service.send(key, 'GET', `/categories?name=category ${turn}`);
    return [status, read.status];
  });
  expect(await Promise.all(turns)).toEqual(turns.map(() => [201, 200]));
  await petstoreJson(['keys', 'revoke', String(id), '--yes'], settings);
  await eventually(async () => expect((await service.send(key, 'GET', '/rate-limit')).status).toBe(401));
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
}

it('PgBouncer in session mode needs no further setting', async () => {
  await behind('session');
  const settings = { DATABASE_URL: bouncer.url };
  const service = await bench.serve(settings);
  await expectToWork(service, settings);
  await service.end();
});

it('PgBouncer in transaction mode needs DATABASE_DIRECT_URL', async () => {
  await behind('transaction');
  const settings = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: database.url };
  const service = await bench.serve(settings);
  await expectToWork(service, settings);
  await service.end();
});

it('PgBouncer in transaction mode alone is refused in one line, and no lock stays behind', async () => {
  await behind('transaction');
  const refused = bench.launch({ DATABASE_URL: bouncer.url });
  expect(await refused.ending).toEqual({ code: 1, signal: null });
  expect(refused.stderr).toMatch(
    /^petstore: Notifications .+ set DATABASE_DIRECT_URL to the PostgreSQL server itself.+\n$/,
  );
  const { rows } = await database.pool
    .query(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory'`);
  expect(rows).toEqual([]);
});
