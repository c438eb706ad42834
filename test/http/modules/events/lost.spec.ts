import { EventTail } from '../../../../src/modules/events';
import { type ErrorBody, nextOf } from '../../../support/api-caller';
import { type Pet, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { useStore } from '../../../support/use-service';
import { type Event, Follower } from './support/feed';

// A standby that was behind takes over, or a backup is restored: the newest events are gone, and so are their positions,
// which later events get.

const { service, caller, arrange } = useStore();

let pet: Pet;
beforeAll(async () => {
  pet = await arrange.pet(aPet(), 50);
});

afterEach(() => jest.restoreAllMocks());

const rename = (name: string) => caller.patch(`/pets/${pet.id}`, { name });
const names = (events: Event[]) => events.map(({ data }) => data.name);

/** A follower who has read everything. */
async function upToDate(): Promise<Follower> {
  const follower = new Follower('/events?cursor=now');
  await follower.read(caller);
  return follower;
}

/** Time passes, so that what happened before is not of the last minute. */
async function aDayPasses(): Promise<void> {
  await service.database.pool.query(`UPDATE events SET time = time - interval '1 day'`);
}

/** Loses an event, although later ones are there: positions are not in the order of commits. */
async function loseTheOneBefore(): Promise<void> {
  await service.database.pool.query(
    `DELETE FROM events WHERE position = (SELECT position FROM events ORDER BY position DESC OFFSET 1 LIMIT 1)`,
  );
}

/** Loses the newest events and their positions. */
async function lose(count: number): Promise<void> {
  const { pool } = service.database;
  await pool.query(
    `DELETE FROM events WHERE position IN (SELECT position FROM events ORDER BY position DESC LIMIT ${count})`,
  );
  await pool.query(`SELECT setval('events_position_seq', max(position)) FROM events`);
}

async function expectLost(target: string): Promise<string> {
  const answer = await caller.get<ErrorBody>(target);
  expect([answer.status, answer.body.code]).toEqual([410, 'events_lost']);
  const next = nextOf(answer)!;
  expect(answer.body.message).toContain(new URLSearchParams(next.split('?')[1]).get('cursor'));
  return next;
}

describe('A follower who has read events that were lost', () => {
  it.each([
    ['before anything else happens', 0],
    ['when as many others have their positions', 3],
    ['when more has happened since', 5],
  ])('is told, %s, and misses nothing from there on', async (_when, later) => {
    await rename('Kept');
    await aDayPasses();
    for (const name of ['Lost 1', 'Lost 2', 'Lost 3']) {
      await rename(name);
    }
    const { target } = await upToDate();
    await lose(3);
    const since = Array.from({ length: later }, (_none, index) => `Since ${index}`);
    for (const name of since) {
      await rename(name);
    }
    const follower = new Follower(await expectLost(target));
    await follower.readAll(caller);
    expect(names(follower.events)).toEqual(since);
  });

  it('is told if its own event is there, and one before it is not', async () => {
    await rename('Kept');
    await aDayPasses();
    await rename('Lost');
    await rename('Read');
    const { target } = await upToDate();
    await loseTheOneBefore();
    const again = new Follower(await expectLost(target));
    expect(names(await again.read(caller))).toEqual(['Read']);
  });

  it('goes on a minute earlier, because clocks differ', async () => {
    await aDayPasses();
    await rename('Kept');
    await rename('Lost');
    const { target } = await upToDate();
    await lose(1);
    await rename('Since');
    const again = new Follower(await expectLost(target));
    expect(names(await again.read(caller))).toEqual(['Kept', 'Since']);
  });

  it('starts over if nothing is left from before', async () => {
    const { target } = await upToDate();
    await service.database.pool.query(`TRUNCATE events RESTART IDENTITY`);
    const follower = new Follower(await expectLost(target));
    await rename('First');
    expect(names(await follower.read(caller))).toEqual(['First']);
  });
});

it('A follower who has read only what is kept is not disturbed', async () => {
  await rename('Read');
  const follower = await upToDate();
  await rename('Lost');
  await lose(1);
  await rename('Since');
  expect(names(await follower.readAll(caller))).toEqual(['Since']);
});

it('A request that waits is told at once', async () => {
  await rename('Lost');
  const { target } = await upToDate();
  // From here on it waits; until then it reads the feed, and would be told at once.
  const waits = jest.spyOn(EventTail.prototype, 'waitForEvent');
  const answer = expectLost(`${target}&wait=30`);
  await until(() => waits.mock.calls.length === 1);
  await lose(1);
  await rename('Since');
  const again = new Follower(await answer);
  expect(names(await again.read(caller))).toContain('Since');
});
