import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { Books } from './support/books';
import { InsistentClient } from './support/insistent-client';
import { MixedLoad } from './support/mixed-load';
import { wrongReplays } from './support/replays';
import { unlimitedKey } from './support/unlimited-key';

/** Kills that must hit requests under way. FAULT_KILLS makes it longer. */
const KILLS = Number(process.env.FAULT_KILLS ?? 3);
/** A kill can come between all responses and the next requests. More than this many kills mean that the load does not run. */
const MOST_KILLS = KILLS * 5;
/** Answers of a new process before it may be killed: its first requests take long and would be the only ones hit. */
const WARM_UP = 16;
/** It only ends a hang: the processes' starts take most of the time. */
const PATIENCE_MS = 120_000 + KILLS * 40_000;
/** Requests for each kill. */
const BURST = 80;
/** Requests that are answered together are followed by others within this time. */
const PAUSE_MS = 5;

const bench = new ServiceBench();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await bench.clear();
  await database?.drop();
});

it(
  `Killed ${KILLS} times under load, the service loses nothing and does nothing twice`,
  async () => {
    const environment = { DATABASE_URL: database.url };
    let service: ServiceProcess = await bench.serve(environment);
    const client = new InsistentClient(() => service.url, await unlimitedKey(environment));
    const load = new MixedLoad(client, await Books.begin(database.url));
    await load.start();
    // The next ones start while others are killed: starting takes longer than all else here.
    const spares = [bench.serve(environment), bench.serve(environment)];
    let caught = 0;
    for (let kill = 1; caught < KILLS; kill += 1) {
      expect(kill).toBeLessThanOrEqual(MOST_KILLS);
      const next = await spares.shift()!;
      const burst = load.goOn(BURST);
      await load.answered(WARM_UP + Math.random() * (BURST / 2));
      await sleep(Math.random() * PAUSE_MS);
      const { broken } = client.interruptions;
      const killed = service.end('SIGKILL');
      service = next;
      await Promise.all([burst, killed]);
      caught += client.interruptions.broken > broken ? 1 : 0;
      if (caught + spares.length < KILLS) spares.push(bench.serve(environment));
    }
    await load.stop();

    expect(load.unexpected).toEqual([]);
    expect(await load.books.differences(database.url)).toEqual([]);
    expect(await wrongReplays(client, load.keyed)).toEqual([]);
    expect(await load.books.differences(database.url)).toEqual([]);
  },
  PATIENCE_MS,
);
