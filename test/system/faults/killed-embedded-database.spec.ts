import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { Books } from './support/books';
import { embeddedUrl } from './support/embedded-url';
import { InsistentClient } from './support/insistent-client';
import { MixedLoad } from './support/mixed-load';
import { unlimitedKey } from './support/unlimited-key';

const KILLS = 2;
const BURST = 80;

const bench = new ServiceBench();
let environment: { DATA_DIR: string };
let service: ServiceProcess;
let client: InsistentClient;
let load: MixedLoad;

beforeAll(async () => {
  environment = bench.embedded();
  service = await bench.serve(environment);
  client = new InsistentClient(() => service.url, await unlimitedKey(environment));
  load = new MixedLoad(client, await Books.begin(embeddedUrl(environment.DATA_DIR)));
  await load.start();
});

afterAll(() => bench.clear());

async function expectNothingLost(): Promise<void> {
  expect(load.unexpected).toEqual([]);
  expect(await load.books.differences(embeddedUrl(environment.DATA_DIR))).toEqual([]);
}

it('A service whose database is killed under load restarts it; killed itself, it leaves its database to the next one; nothing is lost or done twice', async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const burst = load.goOn(BURST);
    await load.answered(BURST / 4);
    process.kill(bench.postmaster()!, 'SIGKILL');
    await burst;
  }
  await expectNothingLost();
  expect(client.interruptions.unavailable).toBeGreaterThan(0);
  expect(client.interruptions.broken).toBe(0);
  // Every 500 is logged with its reason.
  expect(service.log.filter((line) => line.includes('internal_error'))).toEqual([]);
  expect(service.stderr).toBe('');
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);

  const burst = load.goOn(BURST);
  await load.answered(BURST / 4);
  await service.end('SIGKILL');
  const orphan = bench.postmaster();
  expect(orphan).toBeDefined();
  service = await bench.serve(environment);
  await burst;
  await expectNothingLost();
  expect(bench.postmaster()).toBe(orphan);
  expect(client.interruptions.broken).toBeGreaterThan(0);

  await load.stop();
  expect(await load.wrongReplays()).toEqual([]);
  await expectNothingLost();
  expect(await service.end()).toEqual({ code: 0, signal: null });
  expect(bench.postmaster()).toBeUndefined();
});
