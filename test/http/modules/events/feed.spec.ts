import { DAY_MS } from '#libs/clock';
import { Database } from '#libs/database';
import { cursorAfter } from '#libs/http';
import { cursorAt, positionAt } from '../../../../src/modules/events/events.dto';
import { EventReader, EventTail } from '../../../../src/modules/events';
import { ClientsService } from '../../../../src/modules/auth';
import type { ErrorBody } from '../../../support/api-caller';
import { type Pet, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { limitsIn } from '../../../support/limits';
import { startService } from '../../../support/service';
import { useStore } from '../../../support/use-service';
import { type Event, Follower } from './support/feed';

const { service, caller, arrange } = useStore();
const tail = () => service.app.get(EventTail);

let pet: Pet;
let other: Pet;
beforeAll(async () => {
  pet = await arrange.pet(aPet(), 50);
  other = await arrange.pet(aPet(), 50);
});

const types = (events: Event[]) => events.map(({ type }) => type);
const rename = (name: string, { id } = pet) => caller.patch(`/pets/${id}`, { name });

/** A follower who stands at the end, and asks for this from then on. */
async function atTheEnd(more = ''): Promise<Follower> {
  const follower = new Follower('/events?cursor=now');
  await follower.read(caller);
  expect(follower.events).toEqual([]);
  follower.target += more;
  return follower;
}

const cursorIn = (target: string) => /cursor=([\w-]+)/.exec(target)![1]!;

/** Sends a request; resolves when it waits. */
async function waiting<Body = Event[]>(target: string, by = caller) {
  const before = tail().waiting;
  const answer = by.get<Body>(target);
  await until(() => tail().waiting > before);
  return { answer };
}

describe('Pages', () => {
  it('always link to the next page, even when they are the last or empty', async () => {
    const follower = await atTheEnd();
    const first = follower.target;
    expect(await follower.read(caller)).toEqual([]);
    expect(follower.target).toBe(first);
    await rename('Ada');
    expect(types(await follower.read(caller))).toEqual(['pet.updated']);
    expect(await follower.read(caller)).toEqual([]);
  });

  it('of `now` are empty even while events are committed, and their links miss none of them', async () => {
    const events = service.app.get(EventReader);
    const last = jest.spyOn(events, 'lastPosition').mockImplementationOnce(async () => {
      last.mockRestore();
      const place = await events.lastPosition();
      await rename('Zoe');
      return place;
    });
    const follower = new Follower('/events?cursor=now');
    expect(await follower.read(caller)).toEqual([]);
    expect((await follower.read(caller)).map(({ data }) => data.name)).toEqual(['Zoe']);
  });

  it('begin with the oldest event, and have the requested length', async () => {
    const [one, two] = [new Follower('/events?limit=1'), new Follower('/events?limit=2')];
    expect([await one.read(caller), await one.read(caller)].flat()).toEqual(await two.read(caller));
    const oldest = `SELECT data FROM events ORDER BY position LIMIT 1`;
    const { rows } = await service.database.pool.query<{ data: string }>(oldest);
    expect(two.events[0]!.data).toEqual(JSON.parse(rows[0]!.data));
  });

  it('of large events end at 256 KiB, and the link goes on', async () => {
    const follower = await atTheEnd('&limit=100');
    const data = { id: 1, name: 'Large', description: '🐟'.repeat(2_000) };
    await service.database.pool.query(
      `INSERT INTO events (id, type, data)
       SELECT gen_random_uuid(), 'category.updated', $1 FROM generate_series(1, 100)`,
      [JSON.stringify(data)],
    );
    const first = Buffer.byteLength(JSON.stringify(await follower.read(caller)));
    expect([first <= 256 * 1_024, first > 240 * 1_024]).toEqual([true, true]);
    await follower.readAll(caller);
    expect(follower.events.filter(({ data: { name } }) => name === 'Large')).toHaveLength(100);
  });

  it.each([
    ['spelled differently', cursorAt({ position: 2, time: 1, countBefore: 1 }).toUpperCase()],
    ['larger than any position', cursorAt({ position: 2 ** 53, time: 1, countBefore: 1 })],
    ['before the start', cursorAt({ position: -5, time: 0, countBefore: 0 })],
    ['of another list', cursorAfter(2)],
  ])('cannot begin at a cursor that is %s', async (_what, cursor) => {
    const { status, body } = await caller.get<ErrorBody>(`/events?cursor=${cursor}`);
    expect([status, body.code]).toEqual([400, 'invalid_cursor']);
  });
});

it('Filters select events by type, by pet with its stock and orders, or by both', async () => {
  const filters = ['', '&type=order.placed&type=pet.updated', `&petId=${pet.id}`];
  const followers = await Promise.all([...filters, `&petId=${pet.id}&type=order.placed`].map(atTheEnd));
  await arrange.order(pet.id);
  await arrange.order(other.id);
  await rename('Bea');
  await rename('Cleo', other);
  await arrange.category('Fish');
  for (const follower of followers) {
    await follower.readAll(caller);
  }
  const ordered = ['order.placed', 'inventory.updated'];
  expect(followers.map(({ events }) => types(events))).toEqual([
    [...ordered, ...ordered, 'pet.updated', 'pet.updated', 'category.created'],
    ['order.placed', 'order.placed', 'pet.updated', 'pet.updated'],
    [...ordered, 'pet.updated'],
    ['order.placed'],
  ]);
});

describe('A request that waits', () => {
  it('is answered when a matching event occurs, and not before', async () => {
    const { target } = await atTheEnd(`&petId=${pet.id}&wait=30`);
    const { answer } = await waiting(target);
    await rename('Dora', other);
    await rename('Emil');
    const { body } = await answer;
    expect(body.map(({ data }) => data.name)).toEqual(['Emil']);
    expect(tail().waiting).toBe(0);
  });

  it('ends with an empty page at its timeout', async () => {
    const follower = await atTheEnd('&wait=1');
    const before = follower.target;
    expect(await follower.read(caller)).toEqual([]);
    expect(cursorIn(follower.target)).toBe(cursorIn(before));
  });

  it('counts once, and reports the limits as they are when it is answered', async () => {
    const limited = await service.caller({ plan: 'free' });
    const { target } = await atTheEnd('&wait=30');
    const { answer } = await waiting(target, limited);
    await limited.get('/pets');
    await limited.get('/pets');
    service.clock.advance(2_000);
    await rename('Gina');
    const { remaining } = limitsIn(await answer);
    expect(remaining).toBe(57);
  });

  it.each(['revoked', 'expired'])('is answered with 401, and no event, when its key is %s', async (what) => {
    const expiresAt = new Date(service.clock.now() + 60_000);
    const { key, keyId } = await service.issueKey({ expiresAt });
    const { target } = await atTheEnd('&wait=30');
    const { answer } = await waiting<ErrorBody>(target, service.callerWith(key));
    if (what === 'revoked') {
      await service.app.get(ClientsService).revokeKey(keyId);
    } else {
      service.clock.set(expiresAt.getTime());
    }
    await rename(`Late ${what}`);
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([401, 'invalid_api_key']);
  });

  it('holds no connection to the database', async () => {
    const { target } = await atTheEnd('&wait=30');
    const answers = Array.from({ length: 20 }, () => caller.get<Event[]>(target));
    await until(() => tail().waiting === 20);
    await until(() => service.app.get(Database).poolUse.busy === 0);
    await rename('Hugo', other);
    const bodies = (await Promise.all(answers)).map(({ body }) => body.map(({ data }) => data.name));
    expect(bodies).toEqual(Array(20).fill(['Hugo']));
  });

  it('is refused, uncounted, when its client already has fifty; other clients may wait', async () => {
    const { target } = await atTheEnd('&wait=30');
    const answers = Array.from({ length: 50 }, () => caller.get<Event[]>(target));
    await until(() => tail().waiting === 50);
    const refused = await caller.get<ErrorBody>(target);
    expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
    expect(refused.headers.get('Retry-After')).toBe('5');
    const stranger = (await service.caller()).get<Event[]>(target);
    await until(() => tail().waiting === 51);
    await rename('Ines');
    expect((await Promise.all([...answers, stranger])).every(({ body }) => body.length === 1)).toBe(true);
  });
});

it('Events expire after thirty days, and followers continue', async () => {
  const { pool } = service.database;
  const age = (days: number) =>
    pool.query<{ time: Date }>(`UPDATE events SET time = time - make_interval(days => $1) RETURNING time`, [
      days,
    ]);
  await age(1);
  const follower = await atTheEnd();
  // Its place is an event that is there no more.
  const place = cursorIn(follower.target);
  const { time, ...rest } = positionAt(place);
  const aged = { ...rest, time: time - 30 * DAY_MS * 1_000 };
  follower.target = follower.target.replace(place, cursorAt(aged));
  await rename('Jan');
  const { rows } = await age(30);
  const newest = Math.max(...rows.map(({ time }) => time.getTime()));
  service.clock.set(newest + 32 * DAY_MS - 1_000);
  await service.deleteExpired('events');
  const left = await pool.query(`SELECT 1 FROM events`);
  expect(left.rowCount).toBe(1);
  await rename('Karl');
  expect((await follower.read(caller)).map(({ data }) => data.name)).toEqual(['Jan', 'Karl']);
});

it('Waiting requests get an empty page when the service stops', async () => {
  const stopping = await startService({ database: service.database });
  const { key } = await service.issueKey();
  const { target } = await atTheEnd('&wait=30');
  const answer = stopping.callerWith(key).get<Event[]>(target);
  await until(() => stopping.app.get(EventTail).waiting === 1);
  await stopping.close();
  expect((await answer).body).toEqual([]);
});
