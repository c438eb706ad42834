import { petstoreJson } from '../../support/command-line';
import { eventually } from '../../support/eventually';
import { PgBouncer, type PoolMode } from '../../support/pgbouncer';
import { ServiceBench } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let database: TestDatabase;
let bouncer: PgBouncer;

afterAll(() => bench.clear());
afterEach(async () => {
  await bouncer.close();
  await database.drop();
});

it.each<PoolMode>(['session', 'transaction', 'bare'])(
  'A service behind PgBouncer (%s) migrates, reads, writes and applies changes',
  async (mode) => {
    database = await createTestDatabase('template1');
    bouncer = await PgBouncer.start(database.url, mode);
    const settings = { DATABASE_URL: bouncer.url };
    const service = await bench.serve(settings);
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
    await service.end();
    const { rows } = await database.pool
      .query(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory'`);
    expect(rows).toEqual([]);
  },
);
