import { readdirSync } from 'node:fs';
import { Flood } from '../../support/client-flood';
import { eventually } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const LIMIT = 200;
/** Over nine tenths of the limit, and some are left for those who ask. */
const TAKEN = 190;

const bench = new ServiceBench();
let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  const within = ['sh', '-c', `ulimit -n ${LIMIT}; exec "$@"`, 'sh'];
  service = await bench.serve({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' }, { within });
});
afterAll(async () => {
  await bench.clear();
  await database.drop();
});

const port = () => Number(new URL(service.url).port);
const expectReadiness = async (status: number) =>
  expect(await exchange(port(), requestText('GET /health/ready'))).toMatchObject({ status });

const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux('A service that runs out of file descriptors is not ready, until it has some again', async () => {
  await eventually(() => expectReadiness(200));
  const flood = new Flood(port());
  try {
    await eventually(async () => {
      // A service that has just started closes some of its own.
      await flood.open(Math.max(0, TAKEN - readdirSync(`/proc/${service.child.pid}/fd`).length));
      await expectReadiness(503);
    });
    await eventually(() =>
      Promise.resolve(expect(service.stdout).toContain('Not ready: descriptors (nearly all')),
    );
  } finally {
    flood.close();
  }
  await eventually(() => expectReadiness(200));
});
