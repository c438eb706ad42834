import type { Delivery } from '#libs/client';
import { Database } from '#libs/database';
import { DeliveryQueue, type LeasedDelivery } from '../../../../src/modules/webhooks/delivery/delivery-queue';
import { LEASE_MS } from '../../../../src/modules/webhooks/delivery/delivery-statements';
import { DeliveryWorker } from '../../../../src/modules/webhooks/delivery/delivery-worker';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';
import { SecretVault } from '../../../../src/modules/webhooks/webhook-secrets';
import type { ApiCaller } from '../../../support/api-caller';
import { eventually, until } from '../../../support/eventually';
import { Receiver } from '../../../support/receiver';
import { startService } from '../../../support/service';
import { tally } from '../../../support/tally';
import { useInstances } from '../../../support/use-service';

// The tests use two instances, because all bounds hold for both together.
const services = useInstances({}, {});
const first = services[0]!;
let key: string;
const receivers: Receiver[] = [];
let caller: ApiCaller;

beforeAll(async () => {
  ({ key } = await first.issueKey());
  caller = first.callerWith(key);
  // Receivers hold their responses until the test goes on, which may take long on a slow machine.
  services.forEach(({ app }) => (app.get(Sender).responseTimeoutMs = 300_000));
});

const paths: string[] = [];
afterEach(async () => {
  await Promise.all(paths.splice(0).map((path) => caller.delete(path)));
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
});

async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  receivers.push(receiver);
  return receiver;
}

/** Starts a receiver that keeps requests open until all are answered at once. */
async function holdingReceiver() {
  const receiver = await startReceiver();
  const held: ((status: number) => void)[] = [];
  receiver.answer = (response) => void held.push((status) => response.writeHead(status).end());
  const answerAll = (status = 204) => {
    receiver.answers(status);
    held.splice(0).forEach((answer) => answer(status));
  };
  return { receiver, answerAll };
}

async function register({ url }: Receiver): Promise<string> {
  const { body } = await caller.post<{ id: number }>('/webhooks', { url, types: ['category.created'] });
  paths.push(`/webhooks/${body.id}`);
  return `/webhooks/${body.id}`;
}

async function deliveries(path: string, query = ''): Promise<Delivery[]> {
  return (await caller.get<Delivery[]>(`${path}/deliveries${query}`)).body;
}

async function change(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await caller.post('/categories', { name: `Flood ${index}` });
  }
}

/** Waits until the webhook has this many deliveries and each instance has looked for due ones. @returns the ids of all leased deliveries */
async function leasedNext(path: string, existing: number): Promise<number[]> {
  await until(async () => (await deliveries(path)).length === existing);
  const looks = services.map(({ app }) => jest.spyOn(app.get(DeliveryQueue), 'recordAndLease'));
  // The second look shows that the first one is over.
  await until(() => looks.every(({ mock }) => mock.calls.length > 1));
  const leased = await Promise.all(looks.flatMap(({ mock }) => mock.results.map(({ value }) => value)));
  looks.forEach((look) => look.mockRestore());
  return leased.flatMap((turn) => (turn as { leased: { id: number }[] }).leased.map(({ id }) => id));
}

const advance = (milliseconds: number) => services.forEach(({ clock }) => clock.advance(milliseconds));

describe('Until its first success a webhook', () => {
  it('gets one delivery at a time from all instances together, and then the others', async () => {
    const { receiver, answerAll } = await holdingReceiver();
    const path = await register(receiver);
    await change(5);
    await Promise.all(services.map((one) => one.callerWith(key).post(`${path}/test`)));
    await until(() => receiver.received.length === 1);
    expect(await leasedNext(path, 7)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    answerAll();
    await until(async () => (await deliveries(path, '?status=delivered')).length === 7);
  });

  it('gets nothing else after a failure before that delivery is tried again', async () => {
    const receiver = await startReceiver();
    receiver.answers(500);
    const path = await register(receiver);
    await change(3);
    await until(async () => (await deliveries(path)).at(-1)?.attempts === 1);
    expect(await leasedNext(path, 3)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    advance(5_500);
    await until(async () => (await deliveries(path)).at(-1)?.attempts === 2);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1);
    receiver.answers(204);
    advance(330_000);
    await until(async () => (await deliveries(path, '?status=delivered')).length === 3);
  });

  it.each([410, 429])('is stopped by a %i although another delivery succeeds meanwhile', async (status) => {
    const receiver = await startReceiver();
    const path = await register(receiver);
    await change(1);
    await until(async () => (await deliveries(path, '?status=delivered')).length === 1);
    const held: (() => void)[] = [];
    receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const turns = services.map(({ app }) => jest.spyOn(app.get(DeliveryQueue), 'recordAndLease'));
    await change(2);
    await until(() => receiver.received.length === 3);
    const taken = await Promise.all(turns.flatMap(({ mock }) => mock.results.map(({ value }) => value)));
    turns.forEach((turn) => turn.mockRestore());
    const [one, other] = taken.flatMap((turn) => (turn as { leased: LeasedDelivery[] }).leased);
    const refused = { status, error: 'refused', retryAfter: '120', isQuick: true };
    const finished = [
      { ...one!, attempt: { status: 204, error: null, isQuick: true } },
      { ...other!, attempt: refused },
    ];
    await first.app.get(DeliveryQueue).recordAndLease({ finished, sending: [], mayLease: false });
    const sql = 'SELECT enabled, paused_until IS NOT NULL AS "isPaused" FROM webhooks WHERE url = $1';
    const { rows } = await first.database.pool.query(sql, [receiver.url]);
    expect(rows).toEqual([{ enabled: status !== 410, isPaused: status === 429 }]);
    held.forEach((answer) => answer());
  });

  it.each([204, 410])('is on probation again with a new URL; the old one answers %i', async (status) => {
    const [old, next] = [await holdingReceiver(), await holdingReceiver()];
    const path = await register(old.receiver);
    await change(1);
    await until(() => old.receiver.received.length === 1);
    await caller.patch(path, { url: next.receiver.url });
    old.answerAll(status);
    await until(async () => (await deliveries(path))[0]?.attempts === 1);
    expect((await caller.get(path)).body).toMatchObject({ enabled: true });
    await change(5);
    await until(() => next.receiver.received.length === 1);
    expect(await leasedNext(path, 6)).toEqual([]);
    expect(next.receiver.received).toHaveLength(1);
    next.answerAll();
  });
});

/** Registers a webhook whose first delivery succeeds. Its receiver holds all later responses. */
async function provenWebhook() {
  const { receiver, answerAll } = await holdingReceiver();
  const path = await register(receiver);
  await change(1);
  await until(() => receiver.received.length === 1);
  const { answer } = receiver;
  answerAll();
  await until(async () => (await deliveries(path, '?status=delivered')).length === 1);
  receiver.answer = answer;
  return { receiver, answerAll, path };
}

it('Four deliveries at a time of all instances together hold up the others as long as their attempts run', async () => {
  const { receiver, answerAll, path } = await provenWebhook();
  await change(8);
  await until(() => receiver.received.length === 5);
  // Four times half of a lease is longer than a lease, so the leases have been renewed.
  for (let half = 0; half < 4; half += 1) {
    advance(LEASE_MS / 2 + 1);
    expect(await leasedNext(path, 9)).toEqual([]);
  }
  expect(receiver.received).toHaveLength(5);
  answerAll();
  await until(async () => (await deliveries(path, '?status=delivered')).length === 9);
  expect(receiver.received).toHaveLength(9);
});

it('Deliveries that were leased although the response of the database was lost are sent when their leases end', async () => {
  const { receiver, answerAll, path } = await provenWebhook();
  answerAll();
  let lost = 0;
  const databases = services.map(({ app }) => app.get(Database));
  const calls = databases.map((database) => {
    const { inTwoRoundTrips } = database;
    return jest.spyOn(database, 'inTwoRoundTrips').mockImplementation(async (...statements) => {
      const results = await inTwoRoundTrips.apply(database, statements);
      if (lost === 0 && results[0]?.some((row) => 'leasedUntil' in row)) {
        lost = results[0].length;
        throw new Error('Connection terminated unexpectedly');
      }
      return results;
    });
  });
  await change(9);
  await until(() => lost > 0);
  advance(LEASE_MS);
  await until(async () => (await deliveries(path, '?status=delivered')).length === 10);
  calls.forEach((call) => call.mockRestore());
  expect(receiver.received).toHaveLength(10);
});

it('A delivery whose instance stops renewing the lease is sent by another one when the lease ends, and counts once', async () => {
  const { receiver, answerAll } = await holdingReceiver();
  const path = await register(receiver);
  const renewals = services.map(({ app }) =>
    jest.spyOn(app.get(DeliveryQueue), 'renewLeases').mockResolvedValue(),
  );
  await change(1);
  await until(() => receiver.received.length === 1);
  advance(LEASE_MS);
  await until(() => receiver.received.length === 2);
  renewals.forEach((renewal) => renewal.mockRestore());
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1);
  const records = services.map(({ app }) => jest.spyOn(app.get(DeliveryQueue), 'recordAndLease'));
  const outcomes = () => records.flatMap(({ mock }) => mock.calls.flatMap(([{ finished }]) => finished));
  answerAll(500);
  await until(() => outcomes().length === 2);
  await Promise.all(records.flatMap(({ mock }) => mock.results.map(({ value }) => value)));
  records.forEach((record) => record.mockRestore());
  expect(await deliveries(path)).toMatchObject([{ attempts: 1, responseStatus: 500 }]);
});

it('After an outage of the database, each instance can renew its leases before another one ends them', async () => {
  const { receiver, answerAll } = await holdingReceiver();
  const path = await register(receiver);
  await change(1);
  await until(() => receiver.received.length === 1);
  const queues = services.map(({ app }) => app.get(DeliveryQueue));
  // The test ends the leases itself, so that the order of the steps does not depend on timers.
  const timers = queues.map((queue) => jest.spyOn(queue, 'endExpiredLeases').mockResolvedValue());
  const endExpired = () =>
    Promise.all(queues.map((queue) => DeliveryQueue.prototype.endExpiredLeases.call(queue)));
  const renewals = queues.map((queue) =>
    jest.spyOn(queue, 'renewLeases').mockRejectedValue(new Error('The database cannot be reached')),
  );
  advance(2 * LEASE_MS);
  await endExpired();
  renewals.forEach((renewal) => renewal.mockRestore());
  expect(await leasedNext(path, 1)).toEqual([]);
  await endExpired();
  expect(await leasedNext(path, 1)).toEqual([]);
  timers.forEach((timer) => timer.mockRestore());
  answerAll();
  await until(async () => (await deliveries(path, '?status=delivered')).length === 1);
  expect(receiver.received).toHaveLength(1);
});

it('An instance that stops renews the leases of its attempts until these end', async () => {
  const { receiver, answerAll } = await holdingReceiver();
  const path = await register(receiver);
  const stopping = await startService({ database: first.database });
  stopping.clock.set(first.clock.now());
  stopping.app.get(Sender).responseTimeoutMs = 300_000;
  stopping.app.get(DeliveryWorker).drainMs = 300_000;
  const others = services.map(({ app }) =>
    jest.spyOn(app.get(DeliveryQueue), 'recordAndLease').mockResolvedValue({ leased: [], hasMore: false }),
  );
  await change(1);
  await until(() => receiver.received.length === 1);
  others.forEach((other) => other.mockRestore());
  const closed = stopping.close();
  for (let half = 0; half < 4; half += 1) {
    advance(LEASE_MS / 2 + 1);
    stopping.clock.advance(LEASE_MS / 2 + 1);
    expect(await leasedNext(path, 1)).toEqual([]);
  }
  answerAll();
  await closed;
  expect(await deliveries(path)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  expect(receiver.received).toHaveLength(1);
});

it('A thousand webhooks whose receivers do not answer use at most half of each instance, in turns by client, and delay no other receiver, not even a new one', async () => {
  const [CLIENTS, OF_EACH] = [100, 10];
  const { receiver, answerAll } = await holdingReceiver();
  const { pool } = first.database;
  // The webhooks are written by SQL, because requests would take longer than the rest of the test. Each secret is bound to its webhook.
  const { rows } = await pool.query<{ id: number }>(
    `WITH made AS (INSERT INTO clients (name, plan) SELECT 'flood-' || n, 'free' FROM generate_series(1, $2) AS n RETURNING id)
     INSERT INTO webhooks (client_id, url, types, enabled, secrets, created_at)
     SELECT id, $1 || '/' || id, 'category.updated', false, '[]', now() FROM made, generate_series(1, $3) RETURNING id`,
    [receiver.url, CLIENTS, OF_EACH],
  );
  const ids = rows.map(({ id }) => id);
  const vault = first.app.get(SecretVault);
  const secrets = ids.map((id) => JSON.stringify([{ sealed: vault.encryptNew(id), until: null }]));
  await pool.query(
    `UPDATE webhooks SET enabled = true, secrets = sealed
     FROM unnest($1::bigint[], $2::text[]) AS made (id, sealed) WHERE webhooks.id = made.id`,
    [ids, secrets],
  );
  const { body: category } = await caller.post<{ id: number }>('/categories', { name: 'Before' });
  await caller.put(`/categories/${category.id}`, { name: 'After' });

  // An instance divides its 500 places by the number of clients and one more.
  const share = Math.floor(500 / (CLIENTS + 1));
  await until(() => receiver.received.length === CLIENTS * share * services.length);
  const byClient = tally(receiver.received.map(({ path: of }) => of));
  expect(Object.values(byClient)).toEqual(Array(CLIENTS).fill(share * services.length));

  const healthy = await startReceiver();
  const path = await register(healthy);
  await change(12);
  await until(async () => (await deliveries(path, '?status=delivered')).length === 12);

  answerAll();
  await until(() => receiver.received.length === CLIENTS * OF_EACH);
  await pool.query('DELETE FROM webhooks WHERE url LIKE $1', [`${receiver.url}/%`]);
});

it('Ten thousand deliveries may be pending for a webhook: the next event disables it, with the reason', async () => {
  const { pool } = first.database;
  const receiver = await startReceiver();
  receiver.answers(500);
  const path = await register(receiver);
  const id = path.split('/')[2];
  const pending = async () =>
    (await pool.query(`SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending'`, [id]))
      .rowCount;
  await pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
     SELECT $1, 'evt_' || n, 'pet.deleted', 'pending', 1, 'infinity', $2 FROM generate_series(1, 9999) AS n`,
    [id, new Date(first.clock.now())],
  );
  await change(1);
  await until(async () => (await pending()) === 10_000);
  expect((await caller.get(path)).body).toMatchObject({ enabled: true });
  await change(1);
  const error = 'More than 10000 deliveries were pending.';
  const disabledReason = `${error} They were given up; the feed has their events.`;
  await eventually(async () =>
    expect((await caller.get(path)).body).toMatchObject({ enabled: false, disabledReason }),
  );
  await until(async () => (await pending()) === 0);
  expect((await deliveries(path, '?status=failed&limit=1'))[0]).toMatchObject({ error });

  // The webhook works again after it was enabled.
  receiver.answers(204);
  await caller.patch(path, { enabled: true });
  await change(1);
  await until(async () => (await deliveries(path, '?status=delivered')).length === 1);
});
