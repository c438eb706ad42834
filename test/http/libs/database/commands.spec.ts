import { randomUUID } from 'node:crypto';
import { type CallerId, Database, type CommandSource, SERVICE_CALLER_ID } from '#libs/database';
import type { ApiError } from '#libs/http';
import { CategoriesService } from '../../../../src/modules/categories';
import { OrdersService } from '../../../../src/modules/orders/orders.service';
import { PetsService } from '../../../../src/modules/pets';
import { WebhooksService } from '../../../../src/modules/webhooks/webhooks.service';
import { type Category, type Order, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { useStore } from '../../../support/use-service';
import { lockWaits, whileHeld, whileLocked } from '../../../support/disturbances';

// The engine of this library decides nothing itself, so its tests send the commands of the store.

const { service, caller, arrange, inventory } = useStore();

/** Makes the database refuse the next orders of a pet. A sequence counts the attempts, because it does not roll back. */
async function failNext(petId: number, count: number, code = 'P0001'): Promise<void> {
  await service.database.pool.query(`
    CREATE SEQUENCE IF NOT EXISTS attempts;
    ALTER SEQUENCE attempts RESTART;
    CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('attempts') <= ${count} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END IF;
      RETURN NEW;
    END $$;
    CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.pet_id = ${petId}) EXECUTE FUNCTION fail()`);
}

async function attemptsMade(): Promise<number> {
  const { rows } = await service.database.pool.query('SELECT last_value::int AS made FROM attempts');
  return (rows[0] as { made: number }).made;
}

it('commands that share a transaction do not fail with one that the database rejects', async () => {
  const pets = await Promise.all(Array.from({ length: 6 }, () => arrange.pet(aPet(), 5)));
  const [broken, ...sound] = pets.map(({ id }) => id);
  await failNext(broken!, 1_000);
  const place = (petId: number) =>
    service.app.get(OrdersService).place({ petId }, { callerId: SERVICE_CALLER_ID });
  const outcomes = await Promise.allSettled([broken!, ...sound].map(place));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...sound.map(() => 'fulfilled')]);
  for (const petId of sound) {
    expect(await inventory(petId)).toMatchObject({ quantity: 4 });
  }
  expect(await inventory(broken!)).toMatchObject({ quantity: 5 });
  // The database refused the batch of six, the half with the broken pet, the half of that half, and the order alone.
  expect(await attemptsMade()).toBe(4);
});

describe('commands of a batch that need different locks of one category', () => {
  type Outcomes = Record<string, string>;

  /** Commands on the category. Each returns the code of its error or, for a success, the name that the category had when it decided. */
  function commandsOn(id: number): Record<string, () => Promise<string>> {
    const [categories, pets] = [service.app.get(CategoriesService), service.app.get(PetsService)];
    const outcomeOf = async (execute: (source: CommandSource) => Promise<unknown>): Promise<string> => {
      let name: string | undefined;
      const wrap: CommandSource['wrap'] = (command) => ({
        ...command,
        decide(state) {
          name = (command.resource?.(state) as Category | undefined)?.name;
          return command.decide(state);
        },
      });
      return execute({ callerId: SERVICE_CALLER_ID, wrap }).then(
        () => name ?? 'done',
        ({ code }: ApiError) => code,
      );
    };
    return {
      replace: () => outcomeOf((source) => categories.replace(id, { name: 'replaced' }, source)),
      remove: () => outcomeOf((source) => categories.delete(id, source)),
      add: () => outcomeOf((source) => pets.create({ name: 'Rex', categoryId: id }, source)),
    };
  }

  it('decide alone if their batch violates a constraint', async () => {
    const commands = commandsOn((await arrange.category()).id);
    // In one turn of the event loop, and so in one batch.
    expect(await Promise.all([commands.add!(), commands.remove!()])).toEqual(['done', 'category_in_use']);
  });

  it.each<[held: string, atOnce: Outcomes, later: Outcomes]>([
    ['SELECT FROM categories WHERE id = $1 FOR KEY SHARE', { add: 'done' }, { remove: 'category_in_use' }],
    [`UPDATE categories SET name = 'changed' WHERE id = $1`, { add: 'done' }, { replace: 'changed' }],
    [
      `UPDATE categories SET name = 'changed' WHERE id = $1`,
      { add: 'done' },
      { remove: 'category_in_use', replace: 'changed' },
    ],
    ['DELETE FROM categories WHERE id = $1', {}, { add: 'unknown_category', replace: 'category_not_found' }],
  ])(
    'decide on a row that they have locked: while another transaction runs %s, %j are done, and then %j',
    async (held, atOnce, later) => {
      for (const isReversed of [false, true]) {
        const { id } = await arrange.category('before');
        const commands = commandsOn(id);
        const names = [...Object.keys(atOnce), ...Object.keys(later)];
        const outcomes: Outcomes = {};
        const { pool } = service.database;
        const { all } = await whileHeld(pool, held.replace('$1', String(id)), async () => {
          // In one turn of the event loop, and so in one batch.
          const all = (isReversed ? names.toReversed() : names).map(async (name) => {
            outcomes[name] = await commands[name]!();
          });
          await until(async () => (await lockWaits(pool)) > 0);
          await until(() => Object.keys(outcomes).length >= Object.keys(atOnce).length);
          expect(outcomes).toEqual(atOnce);
          return { all };
        });
        await Promise.all(all);
        expect(outcomes).toEqual({ ...atOnce, ...later });
      }
    },
  );
});

it.each([
  ['the client of a new webhook', 'clients', 'FOR UPDATE', 'waits'],
  ['the client of a new webhook', 'clients', 'FOR NO KEY UPDATE', 'waits'],
  ['a deleted webhook', 'webhooks', 'FOR KEY SHARE', 'waits'],
  ['the pet of a deleted category', 'pets', 'FOR UPDATE', 'category_in_use'],
  ['the stock of an ordered pet', 'inventory', 'FOR SHARE', 'waits'],
])(
  'a command whose write refers to a row that another transaction has locked %s (%s, %s): no other command waits with it',
  async (_what, table, lock, expected) => {
    const { pool } = service.database;
    const { rows } = await pool.query<{ id: CallerId }>('SELECT max(id)::int AS id FROM clients');
    const clientId = rows[0]!.id;
    const source: CommandSource = { callerId: clientId };
    const [categories, webhooks] = [service.app.get(CategoriesService), service.app.get(WebhooksService)];
    const url = 'https://shop.example/';
    const pet = await arrange.pet();
    const createWebhook = () => webhooks.create({ url, enabled: false }, clientId, source);
    const webhook = await createWebhook();
    const [id, command] = {
      clients: [clientId, createWebhook],
      webhooks: [webhook.id, () => webhooks.remove(webhook.id, clientId, source)],
      pets: [pet.id, () => categories.delete(pet.categoryId, source)],
      inventory: [pet.id, () => service.app.get(OrdersService).place({ petId: pet.id }, source)],
    }[table]! as [number, () => Promise<unknown>];
    let outcome = 'waits';
    const { ending } = await whileHeld(
      pool,
      `SELECT FROM ${table} WHERE ${table === 'inventory' ? 'pet_id' : 'id'} = ${id} ${lock}`,
      async () => {
        const ending = command().then(
          () => (outcome = 'done'),
          ({ code }: ApiError) => (outcome = code),
        );
        expect(await categories.create({ name: 'Dogs' }, source)).toMatchObject({ name: 'Dogs' });
        await until(async () => outcome !== 'waits' || (await lockWaits(pool)) > 0);
        expect(outcome).toBe(expected);
        expect(await categories.create({ name: 'Cats' }, source)).toMatchObject({ name: 'Cats' });
        return { ending };
      },
    );
    await ending;
    expect(outcome).toBe(expected === 'waits' ? 'done' : expected);
  },
);

it('a command that waits for a row has locked the rows that it needs before this row, as every other transaction does', async () => {
  const { pool } = service.database;
  const { id: petId } = await arrange.pet(aPet(), 5);
  const stock = `SELECT FROM inventory WHERE pet_id = ${petId} FOR UPDATE`;
  const { order } = await whileHeld(pool, stock, async () => {
    const order = service.app.get(OrdersService).place({ petId }, { callerId: SERVICE_CALLER_ID });
    await until(async () => (await lockWaits(pool)) > 0);
    const unlocked = await pool.query(`SELECT FROM pets WHERE id = ${petId} FOR NO KEY UPDATE SKIP LOCKED`);
    expect(unlocked.rowCount).toBe(0);
    return { order };
  });
  await order;
  expect(await inventory(petId)).toMatchObject({ quantity: 4 });
});

describe('an order whose transaction conflicts with another one', () => {
  it.each([
    ['a deadlock', '40P01', {}],
    ['a serialization conflict, under an Idempotency-Key,', '40001', { 'Idempotency-Key': 'conflict' }],
  ])('is placed once even if %s occurs three times', async (_, code, headers) => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    await failNext(petId, 3, code);
    const answer = await caller.with(headers).post<Order>('/store/orders', { petId, quantity: 2 });
    expect(answer).toMatchObject({ status: 201, body: { petId, quantity: 2 } });
    expect(await inventory(petId)).toEqual({ petId, quantity: 3, status: 'available' });
    expect((await caller.get<Order[]>(`/store/orders?petId=${petId}`)).body).toEqual([answer.body]);
  });

  it.each([
    ['after the fourth conflict', '40P01', 4],
    ['at once where the database cancels a statement, as at its timeout', '57014', 1],
  ])('is given up with 503 %s, and takes no stock', async (_, code, attempts) => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    await failNext(petId, attempts, code);
    const answer = await caller.post('/store/orders', { petId });
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    // All attempts were refused.
    expect(await attemptsMade()).toBe(attempts);
    expect(await inventory(petId)).toMatchObject({ quantity: 5 });
  });
});

const CANCEL_WAITS = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

describe('with few connections', () => {
  const [CONNECTIONS, AT_ONCE] = [4, 60];
  const store = useStore({ settings: { databasePool: CONNECTIONS } });
  const poolUse = () => store.service.app.get(Database).poolUse;

  it('orders that wait too long for a lock get 503, and do not delay others', async () => {
    const { id: petId } = await store.arrange.pet(aPet(), 1_000);
    const order = () =>
      store.caller.with({ 'Idempotency-Key': randomUUID() }).post('/store/orders', { petId });
    const { pool } = store.service.database;
    const { orders, reads } = await whileLocked(pool, petId, async () => {
      let left = AT_ONCE;
      const waiting = Array.from({ length: AT_ONCE }, () => order().finally(() => (left -= 1)));
      await until(() => poolUse().busy > 0);
      const meanwhile = Array.from({ length: AT_ONCE }, () => store.caller.get(`/pets?id=${petId}`));
      const reads = await Promise.all(meanwhile);
      // The pool is asked instead of the server, where the session of an abandoned connection stays for a moment.
      expect(poolUse().busy + poolUse().idle).toBeLessThanOrEqual(CONNECTIONS);
      // Cancels the waits, like the timeout of PostgreSQL, which is too long for a test.
      await until(async () => {
        await pool.query(CANCEL_WAITS);
        return left === 0;
      });
      return { orders: await Promise.all(waiting), reads };
    });
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    for (const answer of orders) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    }
    // No connection stays in use, and no order is still waiting.
    await until(() => poolUse().busy + poolUse().waiting === 0);
    expect((await order()).status).toBe(201);
  });
});

describe('statements that a connection has prepared', () => {
  const CONNECTIONS = 3;
  const store = useStore({ settings: { databasePool: CONNECTIONS } });
  let petId: number;
  beforeAll(async () => {
    ({ id: petId } = await store.arrange.pet(aPet(), 1_000));
  });

  /** Sends so many orders at once that every connection prepares their statements, and some reads meanwhile. @returns all statuses */
  async function answersToReadsAndOrders(): Promise<Set<number>> {
    const orders = Array.from({ length: 4 * CONNECTIONS }, (_, index) => {
      const headers: Record<string, string> = index % 2 === 0 ? {} : { 'Idempotency-Key': randomUUID() };
      return store.caller.with(headers).post('/store/orders', { petId });
    });
    const lists = ['/pets', '/categories', '/store/orders', '/store/inventory'];
    const reads = [`/pets/${petId}`, ...lists].map((target) => store.caller.get(target));
    const answers = await Promise.all([...orders, ...reads]);
    return new Set(answers.map(({ status }) => status));
  }

  // An instance of a newer release would change column types in its migration, while this instance runs.
  it.each([
    ['change', 'varchar(250)', 'smallint'],
    ['change back', 'text', 'integer'],
  ])('outdate when column types %s, and no request fails', async (_, text, integer) => {
    const { pool } = store.service.database;
    await answersToReadsAndOrders();
    await pool.query(`
      BEGIN;
      ALTER TABLE categories ALTER COLUMN name TYPE ${text};
      ALTER TABLE pets ALTER COLUMN name TYPE ${text}, ALTER COLUMN status TYPE ${text};
      ALTER TABLE inventory ALTER COLUMN stock TYPE ${integer};
      ALTER TABLE orders ALTER COLUMN quantity TYPE ${integer};
      COMMIT`);
    expect(await answersToReadsAndOrders()).toEqual(new Set([200, 201]));
    const { quantity } = await store.inventory(petId);
    const { rows } = await pool.query<{ units: string }>('SELECT sum(quantity) AS units FROM orders');
    expect(quantity).toBe(1_000 - Number(rows[0]!.units));
  });

  it('are named no more by a connection that loses them, as behind a pooler', async () => {
    await store.service.database.pool.query(`
      CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DEALLOCATE ALL; RETURN NEW; END $$;
      CREATE TRIGGER lose BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION lose()`);
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await answersToReadsAndOrders()).toEqual(new Set([200, 201]));
    }
  });
});
