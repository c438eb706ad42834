import { DAY_MS } from '#libs/clock';
import { Database } from '#libs/database';
import { cursorAfter } from '#libs/http';
import { cursorAt, positionAt } from '../../../../src/modules/events/feed-position';
import { EventReader, EventTail } from '../../../../src/modules/events';
import { ClientsService } from '../../../../src/modules/auth';
import type { ErrorBody } from '../../../support/api-caller';
import { type Pet, aPet, type Category, type InventoryItem, type Order } from '../../../support/builders';
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

const rename = (name: string, { id } = pet) => caller.patch(`/pets/${id}`, { name });

/** A follower who has reached the end of the feed. @param more parameters of its later requests */
async function atTheEnd(more = ''): Promise<Follower> {
  const follower = new Follower('/events?cursor=now');
  await follower.read(caller);
  expect(follower.events).toEqual([]);
  follower.target += more;
  return follower;
}

/** Sends a request, and resolves as soon as the service lets it wait for events. */
async function waiting<Body = Event[]>(target: string, by = caller) {
  const before = tail().waiterCount;
  const answer = by.get<Body>(target);
  await until(() => tail().waiterCount > before);
  return { answer };
}

describe('Pages', () => {
  it('of `now` are empty even while events are committed, and their links miss none of them', async () => {
    const events = service.app.get(EventReader);
    const last = jest.spyOn(events, 'lastPosition').mockImplementationOnce(async (callerId) => {
      last.mockRestore();
      const place = await events.lastPosition(callerId);
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
  expect(followers.map(({ events }) => events.map(({ type }) => type))).toEqual([
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
    expect(tail().waiterCount).toBe(0);
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

  const clients = () => service.app.get(ClientsService);
  const EXPIRY_MS = 60_000;
  it.each<[what: string, status: number, code: string, change: (keyId: number) => unknown]>([
    ['is revoked', 401, 'invalid_api_key', (id) => clients().revokeKey(id)],
    ['expires', 401, 'invalid_api_key', () => service.clock.advance(EXPIRY_MS)],
    ['loses its scope', 403, 'insufficient_scope', (id) => clients().updateKey(id, { scopes: ['write'] })],
  ])('is answered with an error, and no event, when its key %s', async (what, status, code, change) => {
    const expiresAt = new Date(service.clock.now() + EXPIRY_MS);
    const { key, keyId } = await service.issueKey({ expiresAt });
    const { target } = await atTheEnd('&wait=30');
    const { answer } = await waiting<ErrorBody>(target, service.callerWith(key));
    await change(keyId);
    await rename(`Late ${what}`);
    expect((await answer).body).toMatchObject({ status, code });
  });

  it('holds no connection to the database', async () => {
    const { target } = await atTheEnd('&wait=30');
    const answers = Array.from({ length: 20 }, () => caller.get<Event[]>(target));
    await until(() => tail().waiterCount === 20);
    await until(() => service.app.get(Database).poolUse.busy === 0);
    await rename('Hugo', other);
    const bodies = (await Promise.all(answers)).map(({ body }) => body.map(({ data }) => data.name));
    expect(bodies).toEqual(Array(20).fill(['Hugo']));
  });

  it('is refused, uncounted, when its client already has fifty; other clients may wait', async () => {
    const { target } = await atTheEnd('&wait=30');
    const answers = Array.from({ length: 50 }, () => caller.get<Event[]>(target));
    await until(() => tail().waiterCount === 50);
    const refused = await caller.get<ErrorBody>(target);
    expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
    expect(refused.headers.get('Retry-After')).toBe('5');
    const stranger = (await service.caller()).get<Event[]>(target);
    await until(() => tail().waiterCount === 51);
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
  // The event at which the follower stands is deleted.
  const [, place = ''] = /cursor=([\w-]+)/.exec(follower.target)!;
  const { time, ...rest } = positionAt(place);
  const aged = { ...rest, time: time - 30 * DAY_MS * 1_000 };
  follower.target = follower.target.replace(place, cursorAt(aged));
  await rename('Jan');
  const { rows } = await age(30);
  const newest = Math.max(...rows.map(({ time }) => time.getTime()));
  service.clock.set(newest + 32 * DAY_MS - 1_000);
  await service.deleteExpired();
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
  await until(() => stopping.app.get(EventTail).waiterCount === 1);
  await stopping.close();
  expect((await answer).body).toEqual([]);
});

describe('A write reports', () => {
  const feed = new Follower('/events?limit=100');

  type Read = () => Promise<object>;
  type Reported = [type: string, data: Read | object];

  const read = async (target: string): Promise<object> => (await caller.get<object>(target)).body;
  const petOf = (id: number) => async () => ((await read(`/pets?id=${id}`)) as Pet[])[0]!;
  const stockOf = (id: number) => () => read(`/store/inventory/${id}`);
  const orderOf = (id: number) => () => read(`/store/orders/${id}`);
  const categoryOf = (id: number) => () => read(`/categories/${id}`);

  /** Expects these events. If the data of one is a function, it reads the resource as it is now. */
  async function expectReported(...reported: Reported[]): Promise<Event[]> {
    const events = await feed.readAll(caller);
    const expected = await Promise.all(
      reported.map(async ([type, data]) => ({
        type,
        data: typeof data === 'function' ? await data() : data,
      })),
    );
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual(expected);
    return events;
  }

  let pet: Pet;
  beforeEach(async () => {
    pet = await arrange.pet(aPet(), 3);
    await feed.readAll(caller);
  });

  const at = (path: string) => `${path}/${pet.id}`;
  const theStock = (): Reported => ['inventory.updated', stockOf(pet.id)];
  const thePet = (): Reported => ['pet.updated', petOf(pet.id)];

  it('POST, PUT and PATCH of a pet: the pet, and with another status its stock, too', async () => {
    const { body: created } = await caller.post<Pet>('/pets', { name: 'Ada', categoryId: pet.categoryId });
    await expectReported(['pet.created', petOf(created.id)]);
    await caller.put(at('/pets'), { name: 'Ada', categoryId: pet.categoryId });
    await expectReported(thePet());
    await caller.patch(at('/pets'), { status: 'pending' });
    await expectReported(theStock(), thePet());
  });

  it('POST and PUT of a category: the category', async () => {
    const { body: created } = await caller.post<Category>('/categories', {
      name: 'Cats',
      description: 'Quiet.',
    });
    await expectReported(['category.created', categoryOf(created.id)]);
    await caller.put(`/categories/${created.id}`, { name: 'Cats' });
    await expectReported(['category.updated', categoryOf(created.id)]);
  });

  it('PUT and adjustments of a stock: the stock', async () => {
    await caller.put(at('/store/inventory'), { quantity: 7 });
    await expectReported(theStock());
    await caller.post(`${at('/store/inventory')}/adjustments`, { delta: -1 });
    await expectReported(theStock());
  });

  it('POST of an order for the last unit: the order, with `complete` in both steps, the stock, and the pet', async () => {
    const { id } = await arrange.order(pet.id, { quantity: 3 });
    await expectReported(['order.placed', orderOf(id)], theStock(), thePet());
    const other = await arrange.pet(aPet(), 3);
    await feed.readAll(caller);
    const { id: sale } = await arrange.order(other.id, { quantity: 3, complete: true });
    const steps = ['order.placed', 'order.completed'].map((type): Reported => [type, orderOf(sale)]);
    await expectReported(
      ...steps,
      ['inventory.updated', stockOf(other.id)],
      ['pet.updated', petOf(other.id)],
    );
  });

  it('DELETE /pets/{petId} and /categories/{categoryId}: what is deleted, as it was', async () => {
    const before = await petOf(pet.id)();
    const category = await categoryOf(pet.categoryId)();
    await caller.delete(at('/pets'));
    await caller.delete(`/categories/${pet.categoryId}`);
    await expectReported(['pet.deleted', before], ['category.deleted', category]);
  });

  describe('an order that takes the last units', () => {
    let order: Order;
    const target = () => `/store/orders/${order.id}`;
    beforeEach(async () => {
      order = await arrange.order(pet.id, { quantity: 3 });
      await feed.readAll(caller);
    });

    it('PATCH: is not reported when it changes nothing, and twice when it gets a date and is completed', async () => {
      expect((await caller.patch(target(), {})).body).toEqual(order);
      await expectReported();
      await caller.patch(target(), { complete: true, shipDate: '2026-12-01T00:00:00Z' });
      const steps = ['order.updated', 'order.completed'].map((type): Reported => [type, orderOf(order.id)]);
      await expectReported(...steps, theStock(), thePet());
    });

    it('DELETE: is reported as it was, with the stock that it returned', async () => {
      await caller.delete(target());
      await expectReported(['order.cancelled', order], theStock(), thePet());
    });

    it('reports a restocked pet as available', async () => {
      await caller.put(`/store/inventory/${pet.id}`, { quantity: 1 });
      await expectReported(theStock(), thePet());
    });
  });

  it('Requests that change nothing or are refused report nothing', async () => {
    const { body: item } = await caller.get<InventoryItem>(`/store/inventory/${pet.id}`);
    const answers = [
      await caller.patch(`/pets/${pet.id}`, {}),
      await caller.patch(`/pets/${pet.id}`, { name: pet.name }),
      await caller.put(`/store/inventory/${pet.id}`, { quantity: item.quantity }),
      await caller.post('/store/orders', { petId: pet.id, quantity: 4 }),
      await caller.post('/pets', { name: 'Ada', categoryId: 4_711 }),
      await caller.delete(`/categories/${pet.categoryId}`),
      await caller.with({ 'If-Match': '"stale"' }).patch(`/pets/${pet.id}`, { name: 'Stale' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 409, 422, 409, 412]);
    await expectReported();
  });

  it('Changes of one pet in a shared transaction are reported individually, each with its own result', async () => {
    const names = ['Ada', 'Bea', 'Cleo', 'Dora'];
    const answers = await Promise.all(names.map((name) => caller.patch<Pet>(`/pets/${pet.id}`, { name })));
    const events = await feed.readAll(caller);
    expect(events.map(({ data }) => data.name).sort()).toEqual(names);
    expect(events.at(-1)!.data).toEqual(await petOf(pet.id)());
    expect(answers.map(({ body }) => body)).toEqual(expect.arrayContaining(events.map(({ data }) => data)));
    expect([...events].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))).toEqual(events);
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(names.length);
  });
});
