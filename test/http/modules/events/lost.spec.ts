import { EventTail } from '../../../../src/modules/events';
import { type ErrorBody, nextOf } from '../../../support/api-caller';
import { type Pet, aPet, Arrange } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { useStore, useInstances } from '../../../support/use-service';
import { type Event, Follower } from './support/feed';
import { migrateToNewest } from '../../../../src/store/data-source';
import { query } from '../../../support/query';
import { useDatabase } from '../../../support/test-database';
import { whileHeld } from '../../../support/disturbances';

// If a standby that is behind takes over, or a backup is restored, the newest events are lost. Later events then get the
// positions of the lost ones.

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

/** Makes all events a day older, so that none is of the last minute. */
async function aDayPasses(): Promise<void> {
  await service.database.pool.query(`UPDATE events SET time = time - interval '1 day'`);
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
  ])('gets 410, %s, and misses nothing from there on', async (_when, later) => {
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

  it('gets 410 if its own event is there, and one before it is not', async () => {
    await rename('Kept');
    await aDayPasses();
    await rename('Lost');
    await rename('Read');
    const { target } = await upToDate();
    // The event before the newest one can be lost alone, because transactions do not commit in the order of positions.
    await service.database.pool.query(
      `DELETE FROM events WHERE position = (SELECT position FROM events ORDER BY position DESC OFFSET 1 LIMIT 1)`,
    );
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

it('A request that waits is answered 410 at once', async () => {
  await rename('Lost');
  const { target } = await upToDate();
  // The request first reads the feed, and would find the loss there. The event is lost only when it waits.
  const waits = jest.spyOn(EventTail.prototype, 'waitForEvent');
  const answer = expectLost(`${target}&wait=30`);
  await until(() => waits.mock.calls.length === 1);
  await lose(1);
  await rename('Since');
  const again = new Follower(await answer);
  expect(names(await again.read(caller))).toContain('Since');
});

describe('While writers are disturbed', () => {
  const services = useInstances({}, {}, {});

  /**
   * Adds two points to each write of an event: before the event gets its position, and before the commit. Each point pauses for up to
   * 20 ms. Every 19th point fails its transaction, and every 47th ends its connection. A sequence counts, because it does not roll back.
   */
  const DISTURB = `
    CREATE SEQUENCE points;
    CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE point bigint := nextval('points');
      BEGIN
        PERFORM pg_sleep(point * 7 % 20 / 1000.0);
        IF point % 19 = 0 THEN RAISE EXCEPTION 'a disturbance'; END IF;
        IF point % 47 = 0 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NEW;
      END $$;
    CREATE TRIGGER disturb_positions BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION disturb();
    CREATE CONSTRAINT TRIGGER disturb_commits AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION disturb();`;

  it('Whatever writers of three instances meet, each event is read once, and those of a pet in the order of its changes', async () => {
    const { key } = await services[0]!.issueKey();
    const callers = services.map((service) => service.callerWith(key));
    const arrange = new Arrange(callers[0]!);
    const pets = await Promise.all(Array.from({ length: 3 }, () => arrange.pet(aPet())));
    const { pool } = services[0]!.database;
    await pool.query(DISTURB);

    let isDone = false;
    const follow = async (follower: Follower, first: number) => {
      for (let turn = first; ; turn += 1) {
        const wasDone = isDone;
        const events = await follower.read(callers[turn % callers.length]!);
        if (wasDone && events.length === 0) {
          return follower.events;
        }
      }
    };
    const targets = ['limit=1&wait=1', 'limit=5', 'limit=100&wait=1'];
    const following = targets.map((query, first) => follow(new Follower(`/events?${query}`), first));

    // Twelve writers add one unit after the other to the stock of one of three pets.
    let accepted = 0;
    const write = async (writer: number): Promise<void> => {
      const { id } = pets[writer % pets.length]!;
      for (let turn = 0; turn < 6; turn += 1) {
        const path = `/store/inventory/${id}/adjustments`;
        const { status } = await callers[writer % callers.length]!.post(path, { delta: 1 });
        expect([200, 500, 503]).toContain(status);
        accepted += status === 200 ? 1 : 0;
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_none, writer) => write(writer)));
    isDone = true;

    const { rows } = await pool.query<{ id: string }>(
      `SELECT 'evt_' || replace(id::text, '-', '') AS id FROM events ORDER BY position`,
    );
    const written = rows.map(({ id }) => id);
    for (const events of await Promise.all(following)) {
      expect(events.map(({ id }) => id)).toEqual(written);
    }
    const [events] = await Promise.all(following);
    const stocks = pets.map(({ id }) =>
      events!.flatMap(({ type, data }) =>
        type === 'inventory.updated' && data.petId === id ? [data.quantity as number] : [],
      ),
    );
    // The events have every number of units once, in ascending order. Unanswered requests may have added units, too.
    for (const stock of stocks) {
      expect(stock).toEqual(stock.map((_quantity, index) => index + 2));
    }
    expect(accepted).toBeGreaterThan(0);
    // After more than 94 points, at least four transactions have failed, and two connections have ended.
    const [points] = (await pool.query<{ passed: string }>('SELECT last_value AS passed FROM points')).rows;
    expect(Number(points!.passed)).toBeGreaterThan(94);
    expect(stocks.flat().length).toBeGreaterThanOrEqual(accepted);
  }, 120_000);

  const database = useDatabase('template1');

  it('A transaction that has not ended holds up the feed of its own store only, and no write', async () => {
    const { url, pool } = database;
    const stores = ['one', 'two'];
    const urlOf = (store: string) => `${url}&options=-c%20search_path%3D${store}`.replace(/^([^?]*)&/, '$1?');
    for (const store of stores) {
      await pool.query(`CREATE SCHEMA ${store}`);
      await migrateToNewest(urlOf(store), () => undefined);
    }
    const add = (store: string) =>
      `INSERT INTO ${store}.events (id, type, data) VALUES (gen_random_uuid(), 'pet.created', '{}')`;
    const ends = () => Promise.all(stores.map((store) => query(urlOf(store), 'SELECT feed_end() AS "end"')));
    expect(await ends()).toEqual([[{ end: 0 }], [{ end: 0 }]]);
    // The first event of the store is not committed yet, so the feed must end before its position.
    await whileHeld(pool, add('one'), async () => {
      for (const store of stores) await pool.query(add(store));
      expect(await ends()).toEqual([[{ end: 0 }], [{ end: 1 }]]);
    });
    expect(await ends()).toEqual([[{ end: 2 }], [{ end: 1 }]]);
  });
});
