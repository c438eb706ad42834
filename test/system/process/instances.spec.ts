import { petstoreJson } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('template1');
});

afterAll(async () => {
  await bench.clear();
  await database.drop();
});

describe('three instances that start at once on an empty database', () => {
  it('all start; one migrates, and none adds example data to an external database', async () => {
    const environment = { DATABASE_URL: database.url };
    const services = await Promise.all([1, 2, 3].map(() => bench.serve(environment)));
    const states = await petstoreJson<{ state: string }[]>(['db', 'status'], environment);
    expect(states.every(({ state }) => state === 'done')).toBe(true);
    for (const { stdout } of services) {
      expect(stdout).not.toContain('psk_live_');
    }
    const { rows } = await database.pool.query(
      'SELECT (SELECT count(*) FROM pets) + (SELECT count(*) FROM clients) AS rows',
    );
    expect(rows).toEqual([{ rows: '0' }]);

    await petstoreJson(['clients', 'create', '--name', 'acme'], environment);
    const { key } = await petstoreJson<{ key: string }>(['keys', 'issue', '--client', 'acme'], environment);
    for (const service of services) {
      expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
    }
    for (const ending of await Promise.all(services.map((service) => service.end()))) {
      expect(ending).toEqual({ code: 0, signal: null });
    }
    // The server of DATABASE_URL is somebody else's and goes on.
    expect((await database.pool.query('SELECT 1')).rowCount).toBe(1);
  });
});
