import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/eventually';
import { Receiver, isSignedBy } from '../../support/receiver';
import { WEBHOOK_KEY } from '../../support/service';
import { ServiceBench } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { unlimitedKey } from '../faults/support/unlimited-key';

/** Changes while it is killed. */
const BURST = 60;

const bench = new ServiceBench();
let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await Receiver.start();
});

afterAll(async () => {
  await bench.clear();
  await receiver.stop();
  await database.drop();
});

it('One of two senders is killed under load: every confirmed change is delivered at least once', async () => {
  const environment = { DATABASE_URL: database.url, WEBHOOK_KEY, WEBHOOK_NETWORKS: '127.0.0.0/8' };
  const steady = await bench.serve(environment);
  const victim = await bench.serve(environment);
  const key = await unlimitedKey(environment);
  const webhook = await steady.send(key, 'POST', '/webhooks', {
    url: receiver.url,
    types: ['category.created'],
  });
  const { secret } = (await webhook.json()) as { secret: string };
  // Slow enough that there is always something under way.
  receiver.answer = (response) => void pause(20).then(() => response.writeHead(204).end());

  const confirmed = new Set<number>();
  const burst = Promise.all(
    Array.from({ length: BURST }, async (_, index) => {
      const answer = await steady.send(key, 'POST', '/categories', { name: `category ${index}` });
      confirmed.add(((await answer.json()) as { id: number }).id);
    }),
  );
  await until(() => receiver.received.length > BURST / 4);
  await Promise.all([burst, victim.end('SIGKILL')]);
  expect(confirmed.size).toBe(BURST);

  // What the killed process was sending is left to the other one when its lease is over; here that is now.
  await database.pool.query(`UPDATE webhooks SET leased_until = now()`);
  const isPending = `SELECT FROM webhook_deliveries WHERE status = 'pending' LIMIT 1`;
  await until(async () => {
    const delivered = new Set(receiver.received.map(({ event }) => event.data.id as number));
    const { rows } = await database.pool.query(isPending);
    return rows.length === 0 && [...confirmed].every((id) => delivered.has(id));
  });
  expect(receiver.received.every((received) => isSignedBy(secret, received))).toBe(true);
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(BURST);
  const { rows } = await database.pool.query(
    `SELECT event_id FROM webhook_deliveries GROUP BY event_id HAVING count(*) > 1`,
  );
  expect(rows).toEqual([]);
});
