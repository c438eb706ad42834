import type { Delivery } from '#libs/client';
import { WebhooksService } from '../../../../src/modules/webhooks/webhooks.service';
import { isSignedBy, Receiver } from '../../../support/receiver';
import { eventually, until } from '../../../support/eventually';
import { useStore } from '../../../support/use-service';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('deliveries', () => {
  const { service, caller, arrange } = useStore();
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await Receiver.start();
  });

  const webhooks: { path: string }[] = [];
  afterEach(async () => {
    await Promise.all(webhooks.splice(0).map(remove));
    await receiver.stop();
  });

  /** Until the end of the test; for tests alone unless it says otherwise. */
  async function register(body: object = { types: ['pet.deleted'] }) {
    const { body: webhook } = await caller.post('/webhooks', { url: receiver.url, ...body });
    const { id, secret } = webhook as { id: number; secret: string };
    const registered = { id, secret, path: `/webhooks/${id}` };
    webhooks.push(registered);
    return registered;
  }

  /** One whose first delivery got this answer. */
  async function answered(...answer: Parameters<Receiver['answers']>) {
    const webhook = await register();
    receiver.answers(...answer);
    await caller.post(`${webhook.path}/test`);
    await attempted(webhook.path, 1);
    return webhook;
  }

  async function remove({ path }: { path: string }): Promise<void> {
    await caller.delete(path);
  }

  async function deliveries(path: string, query = ''): Promise<Delivery[]> {
    return (await caller.get(`${path}/deliveries${query}`)).body as Delivery[];
  }

  /** Waits until the only delivery has been attempted so often. */
  async function attempted(path: string, attempts: number): Promise<Delivery> {
    return eventually(async () => {
      const [delivery] = await deliveries(path);
      expect(delivery).toMatchObject({ attempts });
      return delivery!;
    });
  }

  it('sends events as the feed has them, signed with the secret', async () => {
    const webhook = await register({});
    const pet = await arrange.pet();

    const received = await eventually(() => {
      const found = receiver.ofType('pet.created').find(({ event }) => event.data.id === pet.id);
      expect(found).toBeDefined();
      return found!;
    });

    const feed = (await caller.get(`/events?type=pet.created&petId=${pet.id}`)).body as object[];
    expect(received.event).toEqual(feed[0]);
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': received.event.id,
      'webhook-timestamp': String(Math.floor(service.clock.now() / 1_000)),
    });
    expect(isSignedBy(webhook.secret, received)).toBe(true);
    await eventually(async () => {
      const found = (await deliveries(webhook.path)).find(({ eventId }) => eventId === received.event.id);
      expect(found).toMatchObject({ status: 'delivered', attempts: 1, responseStatus: 204 });
    });
  });

  it('sends only the types that the webhook subscribes to, and nothing while it is disabled', async () => {
    await register({ types: ['category.created'] });
    const disabled = await register({ enabled: false });
    await arrange.pet();
    const category = await arrange.category();
    const isThere = () => receiver.received.some(({ event }) => event.data.id === category.id);
    await until(isThere);

    expect(new Set(receiver.received.map(({ event }) => event.type))).toEqual(new Set(['category.created']));
    expect(await deliveries(disabled.path)).toEqual([]);
  });

  it('retries after the pause of the schedule, and gives up after the tenth attempt', async () => {
    const webhook = await answered(500);
    const { nextAttemptAt, ...delivery } = await attempted(webhook.path, 1);
    const wait = Date.parse(nextAttemptAt!) - service.clock.now();
    expect(delivery).toMatchObject({ status: 'pending', error: 'The response was 500.' });
    expect([wait >= 5_000, wait <= 5_500]).toEqual([true, true]);
    await service.database.pool.query(`UPDATE webhook_deliveries SET attempts = 9 WHERE webhook_id = $1`, [
      webhook.id,
    ]);
    service.clock.advance(wait);
    const last = await attempted(webhook.path, 10);

    expect(last).toMatchObject({ status: 'failed', responseStatus: 500 });
    expect(last).not.toHaveProperty('nextAttemptAt');
    expect(receiver.received).toHaveLength(2);

    // Nothing is sent while the webhook is disabled.
    await caller.patch(webhook.path, { enabled: false });
    expect(await service.app.get(WebhooksService).retryFailed(webhook.id)).toBe(1);
    const due = 'SELECT due_at FROM webhook_deliveries WHERE webhook_id = $1';
    expect((await service.database.pool.query(due, [webhook.id])).rows).toEqual([
      { due_at: new Date(service.clock.now()) },
    ]);
    await caller.patch(webhook.path, { enabled: true });
    const retry = await caller.post(`${webhook.path}/deliveries/${last.id}/retry`);
    expect(retry).toMatchObject({ status: 202, body: { id: last.id, status: 'pending', attempts: 0 } });
    await attempted(webhook.path, 1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('410 disables the webhook, with the reason', async () => {
    const webhook = await register();
    receiver.answers(410);
    await caller.post(`${webhook.path}/test`);
    const disabled = { enabled: false, disabledReason: 'The receiver responded 410 Gone.' };
    await eventually(async () => expect((await caller.get(webhook.path)).body).toMatchObject(disabled));

    const pending = { status: 'pending', attempts: 1, responseStatus: 410 };
    expect(await attempted(webhook.path, 1)).toMatchObject(pending);
    expect(await attempted(webhook.path, 1)).not.toHaveProperty('nextAttemptAt');

    const { body } = await caller.patch(webhook.path, { enabled: true });
    expect(body).toMatchObject({ enabled: true });
    expect(body).not.toHaveProperty('disabledReason');
    expect(await attempted(webhook.path, 1)).toHaveProperty('nextAttemptAt');
  });

  it('of a deleted webhook are removed', async () => {
    const { pool } = service.database;
    const webhook = await register();
    const others = await register();
    await caller.post(`${webhook.path}/test`);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 1);
    receiver.answers(500);
    await caller.post(`${webhook.path}/test`);
    await attempted(webhook.path, 1);
    await caller.post(`${others.path}/test`);
    await remove(webhook);

    await service.deleteExpired('webhook_deliveries');
    const of = [webhook.id, others.id];
    const sql = 'SELECT webhook_id AS id FROM webhook_deliveries WHERE webhook_id = ANY($1)';
    expect((await pool.query(sql, [of])).rows).toEqual([{ id: others.id }]);
  });

  it('503 with Retry-After: sends nothing until it has passed', async () => {
    const webhook = await answered(503, { 'Retry-After': '120' });
    receiver.answers(204);
    await caller.post(`${webhook.path}/test`);
    const other = await register();
    await caller.post(`${other.path}/test`);
    // What comes later has gone to another webhook: the one that is paused was passed over.
    await until(async () => (await deliveries(other.path))[0]?.status === 'delivered');

    expect(await deliveries(webhook.path, '?status=pending')).toHaveLength(2);
    service.clock.advance(120_000);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 2);
  });

  it('a webhook whose deliveries have all failed for five days is disabled, with the reason; a success restarts them', async () => {
    const [webhook, lucky] = [await answered(500), await answered(204)];
    receiver.answers(500);
    service.clock.advance(4 * DAY);
    await attempted(webhook.path, 2);
    expect((await caller.get(webhook.path)).body).toMatchObject({ enabled: true });
    await caller.post(`${lucky.path}/test`);
    await attempted(lucky.path, 1);
    service.clock.advance(DAY);

    const disabled = { enabled: false, disabledReason: 'All deliveries failed for five days.' };
    await eventually(async () => expect((await caller.get(webhook.path)).body).toMatchObject(disabled));
    await attempted(lucky.path, 2);
    expect((await caller.get(lucky.path)).body).toMatchObject({ enabled: true });
  });

  it('after a rotation both secrets sign for 24 hours, then only the new one', async () => {
    const webhook = await register();
    const { body } = await caller.post(`${webhook.path}/secret`);
    const { secret: next } = body as { secret: string };
    await caller.post(`${webhook.path}/test`);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 1);
    service.clock.advance(DAY);
    await caller.post(`${webhook.path}/test`);
    await until(() => receiver.received.length === 2);

    const [during, after] = receiver.received;
    expect(next).not.toBe(webhook.secret);
    expect([webhook.secret, next].map((secret) => isSignedBy(secret, during!))).toEqual([true, true]);
    expect([webhook.secret, next].map((secret) => isSignedBy(secret, after!))).toEqual([false, true]);
  });
});
