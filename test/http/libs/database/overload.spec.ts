import { randomUUID } from 'node:crypto';
import { Database } from '#libs/database';
import type { Answer } from '../../../support/api-client';
import { aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';
import { whileLocked } from '../../../support/while-locked';
import { until } from '../../../support/eventually';

const CONNECTIONS = 4;
const AT_ONCE = 60;

const { service, caller, arrange } = useStore({
  settings: { databasePool: CONNECTIONS },
  statementTimeoutMs: 1_500,
});

let petId: number;

beforeAll(async () => {
  ({ id: petId } = await arrange.pet(aPet(), 1_000));
});

type Outcome = Promise<Answer<{ code?: string }>>;

const order = (): Outcome =>
  caller.with({ 'Idempotency-Key': randomUUID() }).post('/store/orders', { petId });
const read = (): Outcome => caller.get(`/pets?id=${petId}`);
const poolUse = () => service.app.get(Database).poolUse;

async function sessions(): Promise<number> {
  const { rows } = await service.database.pool.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'petstore%'`,
  );
  return rows[0]!.count;
}

/** Holds what every order needs until the work is done. */
const whileOrdersWait = <Result>(work: () => Promise<Result>) =>
  whileLocked(service.database.pool, petId, work);

it('Orders that wait too long for a lock get 503, and do not delay others', async () => {
  const { orders, reads } = await whileOrdersWait(async () => {
    const waiting = Array.from({ length: AT_ONCE }, order);
    await until(() => poolUse().busy > 0);
    const meanwhile = await Promise.all(Array.from({ length: AT_ONCE }, read));
    expect(await sessions()).toBeLessThanOrEqual(CONNECTIONS);
    return { orders: await Promise.all(waiting), reads: meanwhile };
  });
  expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
  for (const answer of orders) {
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  }
  // Nothing of them is left behind.
  await until(() => poolUse().busy + poolUse().waiting === 0);
  expect((await order()).status).toBe(201);
});
