import type { Answer, ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type Order, type Pet, aPet } from '../../support/builders';
import { spread, tally } from '../../support/spread';
import { COUNTED, standing } from '../../support/limits';
import { Fleet } from './support/fleet';
import { FailoverLoad } from './support/failover-load';
import { until } from '../../support/eventually';

let fleet: Fleet;
let key: string;
let callers: ApiClient[];
let arrange: Arrange;

beforeAll(async () => {
  fleet = await Fleet.start();
  ({ key } = await fleet.issueKey());
  callers = fleet.callers(key);
  arrange = new Arrange(callers[0]!);
});
afterAll(() => fleet?.close());

/** What the one row of a query says. */
async function inDatabase(query: string, ...values: unknown[]): Promise<unknown> {
  return (await fleet.database.pool.query<Record<string, unknown>>(query, values)).rows[0];
}

test('three instances that get the same creation at once create one resource and return it', async () => {
  const { id: categoryId } = await arrange.category();
  const body = aPet().named('Raced').inCategory(categoryId).build();
  const create = async (caller: ApiClient): Promise<Answer<Pet | ErrorBody>> => {
    const keyed = caller.with({ 'Idempotency-Key': 'raced' });
    let answer!: Answer<Pet | ErrorBody>;
    await until(async () => {
      answer = await keyed.post<Pet | ErrorBody>('/pets', body);
      return answer.status !== 409;
    });
    return answer;
  };
  const answers = await spread(callers, 30, create);
  expect(tally(answers.map(({ status, text }) => `${status} ${text}`))).toEqual({
    [`201 ${answers[0]!.text}`]: 30,
  });
  expect(await inDatabase("SELECT count(*)::int FROM pets WHERE name = 'Raced'")).toEqual({ count: 1 });
});

test('of 300 concurrent orders for a stock of 100 exactly 100 are placed', async () => {
  const { id: petId } = await arrange.pet(aPet(), 100);
  const place = (caller: ApiClient) => caller.post<Order & ErrorBody>('/store/orders', { petId });
  const answers = await spread(callers, 300, place, 300);
  const { created, ...refused } = tally(
    answers.map(({ status, body }) => (status === 201 ? 'created' : `${status} ${body.code}`)),
  );
  expect(created).toBe(100);
  expect(
    Object.keys(refused).filter((refusal) => !/^409 (pet_not_available|insufficient_stock)$/.test(refusal)),
  ).toEqual([]);
  expect(
    await inDatabase(
      `SELECT inventory.quantity, count(*)::int AS orders, sum(orders.quantity)::int AS units
       FROM inventory JOIN orders USING (pet_id) WHERE pet_id = $1 GROUP BY inventory.quantity`,
      petId,
    ),
  ).toEqual({ quantity: 0, orders: 100, units: 100 });
});

describe('when one of three instances is killed while it works', () => {
  const STOCK = 100_000;
  let load: FailoverLoad;
  let petId: number;

  beforeAll(async () => {
    ({ id: petId } = await arrange.pet(aPet(), STOCK));
    load = new FailoverLoad(callers, petId);
    load.start();
    await load.goOn(100);
    await fleet.killOne();
    await load.goOn(100);
    await load.stop();
  });

  test('no acknowledged order is lost or duplicated', async () => {
    expect(load.failovers).toBeGreaterThan(0);
    const { rows } = await fleet.database.pool.query(
      `SELECT id::int, quantity, cancelled_at IS NOT NULL AS cancelled FROM orders WHERE pet_id = $1 ORDER BY id`,
      [petId],
    );
    expect(rows).toEqual(load.acknowledged.toSorted((a, b) => a.id - b.id));
  });

  test('the stock matches the orders', async () => {
    const open = load.acknowledged.filter(({ cancelled }) => !cancelled);
    const ordered = open.reduce((units, { quantity }) => units + quantity, 0);
    expect(await inDatabase('SELECT quantity FROM inventory WHERE pet_id = $1', petId)).toEqual({
      quantity: STOCK - ordered,
    });
  });

  test('the others keep sharing their counts', async () => {
    const { key: free } = await fleet.issueKey({ plan: 'free' });
    const answers = await spread(fleet.callers(free), 70, (caller) => caller.get(COUNTED));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 60, 429: 10 });
  });

  test('the others refuse a revoked key', async () => {
    const { key: revoked, keyId } = await fleet.issueKey();
    const others = fleet.callers(revoked);
    const areAll = async (status: number) =>
      (await Promise.all(others.map((caller) => caller.get(COUNTED)))).every((one) => one.status === status);
    expect(await areAll(200)).toBe(true);
    await fleet.command('keys', 'revoke', String(keyId), '--yes');
    await until(() => areAll(401));
  });

  test('a plan change applies on the others', async () => {
    const { key: upgraded, client } = await fleet.issueKey({ plan: 'free' });
    const others = fleet.callers(upgraded);
    const haveAll = async (limit: number) =>
      (await Promise.all(others.map(standing))).every(({ minute }) => minute.limit === limit);
    expect(await haveAll(60)).toBe(true);
    await fleet.command('clients', 'set-plan', client, '--plan', 'pro');
    await until(() => haveAll(300));
  });
});
