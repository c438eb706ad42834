import type { ApiClient } from '../../../support/api-client';
import { Arrange, type Pet, aPet } from '../../../support/builders';
import { type TestService, startService } from '../../../support/service';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { Follower } from './support/feed';

const WRITERS = 16;
const WRITES = 8;

let database: TestDatabase;
const running: TestService[] = [];

async function start(): Promise<TestService> {
  const service = await startService({ database });
  running.push(service);
  return service;
}

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.close()));
  await database?.drop();
});

/** Changes a pet again and again; the names that were answered. */
async function write(caller: ApiClient, { id }: Pet, writer: number): Promise<string[]> {
  const names: string[] = [];
  for (let turn = 0; turn < WRITES; turn += 1) {
    const name = `${writer}-${turn}`;
    const { status } = await caller.patch(`/pets/${id}`, { name });
    expect(status).toBe(200);
    names.push(name);
  }
  return names;
}

it('A follower reads every event once under sixteen writers, from either instance and across a restart', async () => {
  const [one, two] = [await start(), await start()];
  const { key } = await one.issueKey();
  const callerOf = (service: TestService) => service.callerWith(key);
  const arrange = new Arrange(callerOf(one));
  const pets = await Promise.all(Array.from({ length: 4 }, () => arrange.pet(aPet())));
  let done = false;
  let entrances: TestService[] = [one, two];

  /** Reads from an instance and then from another, small pages and large ones, until nothing more comes. */
  const follow = async (follower: Follower, first: number) => {
    for (let turn = first; ; turn += 1) {
      const isDone = done;
      // A connection may close just as a request is sent on it: then it is repeated elsewhere.
      const events = await follower
        .read(callerOf(entrances[turn % entrances.length]!))
        .catch((error: Error) => {
          expect(error.message).toBe('fetch failed');
        });
      if (isDone && events?.length === 0) {
        return follower.events;
      }
    }
  };
  const targets = ['limit=1&wait=1', 'limit=3', 'limit=100&wait=1', 'limit=7&type=pet.updated&wait=1'];
  const following = targets.map((query, first) => follow(new Follower(`/events?cursor=now&${query}`), first));
  // Each has begun before the first write: a page of nothing is read at once or waited at.
  const beginning = new Follower('/events?limit=100');
  await beginning.readAll(callerOf(one));
  beginning.events.length = 0;

  const writing = Array.from({ length: WRITERS }, (_none, writer) =>
    write(callerOf(writer % 2 === 0 ? one : two), pets[writer % pets.length]!, writer),
  );
  const [firstHalf] = [await Promise.all(writing)];
  const three = await start();
  entrances = [two, three];
  running.splice(running.indexOf(one), 1);
  await one.close();
  const secondHalf = await Promise.all(
    Array.from({ length: WRITERS }, (_none, writer) =>
      write(callerOf(writer % 2 === 0 ? two : three), pets[writer % pets.length]!, writer + WRITERS),
    ),
  );
  done = true;

  const written = [...firstHalf, ...secondHalf].flat();
  await beginning.readAll(callerOf(three));
  expect(beginning.events.map(({ data }) => data.name).sort()).toEqual([...written].sort());
  for (const [index, events] of (await Promise.all(following)).entries()) {
    // Who began while the first writes were under way has read all from there on, in the same order.
    const from = beginning.events.findIndex(({ id }) => id === events[0]!.id);
    expect([targets[index], events.map(({ id }) => id)]).toEqual([
      targets[index],
      beginning.events.slice(from).map(({ id }) => id),
    ]);
  }
  // Each writer's changes stand in the order in which they were answered.
  for (const names of [...firstHalf, ...secondHalf]) {
    const told = beginning.events.map(({ data }) => String(data.name)).filter((name) => names.includes(name));
    expect(told).toEqual(names);
  }
});
