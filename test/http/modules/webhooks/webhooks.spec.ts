import type { Webhook, WebhookWithSecret } from '#libs/client';
import { type ApiCaller, type ErrorBody, pagesOf } from '../../../support/api-caller';
import { CLIENT_DEPENDENTS, ClientsService } from '../../../../src/modules/auth';
import { until } from '../../../support/eventually';
import { startService } from '../../../support/service';
import { useStore } from '../../../support/use-service';
import { lockWaits } from '../../../support/disturbances';

const { service: store } = useStore();
const URL = 'https://shop.example/events';
let apiKey: string;
let caller: ApiCaller;

// Each test has a client of its own, because a client may have only ten webhooks.
beforeEach(async () => {
  apiKey = (await store.issueKey()).key;
  caller = store.callerWith(apiKey);
});

async function created(body: object = {}): Promise<WebhookWithSecret> {
  return (await caller.post<WebhookWithSecret>('/webhooks', { url: URL, enabled: false, ...body })).body;
}

describe('POST /webhooks', () => {
  it('201: returns what GET returns, and the secret', async () => {
    const types = ['pet.created', 'order.placed'];
    const body = { url: URL, types, description: 'Printer', enabled: false };
    const answer = await caller.post<WebhookWithSecret>('/webhooks', body);
    const { secret, ...webhook } = answer.body;
    const found = await caller.get<Webhook>(answer.headers.get('location')!);
    expect([answer.status, webhook]).toMatchObject([201, body]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(found.body).toEqual(webhook);
    expect(found.headers.get('etag')).toBe(answer.headers.get('etag'));
  });

  it('201 again after a restart that allows its URL no more; with another WEBHOOK_KEY it does not start; without one the start says why none can be created, and it is 503', async () => {
    const key = { 'Idempotency-Key': 'before the restart' };
    const url = 'http://127.0.0.1:8080/';
    const first = await caller.with(key).post<WebhookWithSecret>('/webhooks', { url });
    expect(first.status).toBe(201);
    const stricter = await startService({ database: store.database, settings: { webhookNetworks: [] } });
    const again = await stricter.callerWith(apiKey).with(key).post('/webhooks', { url });
    expect([again.status, again.text]).toEqual([201, first.text]);
    await stricter.close();

    const other = startService({ database: store.database, settings: { webhookKey: Buffer.alloc(32) } });
    await expect(other).rejects.toThrow('encrypted with a different key');
    const keyless = await startService({ database: store.database, settings: { webhookKey: undefined } });
    const lines = () =>
      keyless.log.lines.filter((line) => JSON.stringify(line).includes('WEBHOOK_KEY is not set'));
    const msg = expect.stringMatching(/can be created.*openssl/) as string;
    expect(lines().filter(({ context }) => context === 'Webhooks')).toMatchObject([{ level: 40, msg }]);
    const sender = keyless.callerWith(apiKey);
    for (const one of [sender.with(key), sender]) {
      const answer = await one.post('/webhooks', { url });
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    const reason = expect.any(String) as string;
    expect(lines().at(-1)).toMatchObject({ code: 'service_unavailable', reason });
    await keyless.close();
  });

  // test/unit/modules/webhooks/address-policy.spec.ts tests which URLs are accepted.
  it('422 webhook_url_not_allowed, also for PATCH, without repeating a password', async () => {
    const { id } = await created();
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PATCH', `/webhooks/${id}`],
    ] as const) {
      const url = 'https://me:hunter2@shop.example/';
      const answer = await caller.send<ErrorBody>(method, path, { url });
      expect([answer.status, answer.body.code]).toEqual([422, 'webhook_url_not_allowed']);
      expect(answer.body.message).toContain('url must not contain a user');
      expect(answer.text).not.toContain('hunter2');
    }
    expect((await caller.get<Webhook>(`/webhooks/${id}`)).body.url).toBe(URL);
  });

  test.each([[null], [[]], [undefined]])('201: enabled, and the types %j mean all', async (types) => {
    const { body } = await caller.post<WebhookWithSecret>('/webhooks', { url: URL, types });
    expect(body.enabled).toBe(true);
    expect(body).not.toHaveProperty('types');
    await caller.patch(`/webhooks/${body.id}`, { types: ['pet.created', 'pet.created'] });
    const { body: patched } = await caller.get<Webhook>(`/webhooks/${body.id}`);
    expect(patched.types).toEqual(['pet.created']);
  });

  it('409 too_many_webhooks for the eleventh, even for concurrent requests to two instances', async () => {
    const other = await startService({ database: store.database });
    const callers = [caller, other.callerWith(apiKey)];
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        callers[index % 2]!.post('/webhooks', { url: URL, enabled: false }),
      ),
    );
    await other.close();
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 409)).toHaveLength(15);
    const list = await caller.get<Webhook[]>('/webhooks');
    expect(list.body).toHaveLength(10);

    await caller.delete(`/webhooks/${list.body[0]!.id}`);
    expect((await caller.post('/webhooks', { url: URL })).status).toBe(201);
    const refused = await caller.post<ErrorBody>('/webhooks', { url: URL });
    expect(refused.body.code).toBe('too_many_webhooks');
  });
});

it('end with their client, also one that is created meanwhile', async () => {
  const { client, key } = await store.issueKey();
  const doomed = store.callerWith(key);
  const before = await doomed.post<WebhookWithSecret>('/webhooks', { url: URL });
  let meanwhile: Promise<unknown> | undefined;
  const dependents = store.app.get<{ deleteRowsOf(): Promise<void> }[]>(CLIENT_DEPENDENTS);
  dependents.push({
    deleteRowsOf: async () => {
      meanwhile = doomed.post('/webhooks', { url: URL });
      await until(async () => (await lockWaits(store.database.pool)) === 1);
    },
  });
  await store.app.get(ClientsService).remove(client);
  dependents.pop();
  expect(await meanwhile).toMatchObject({ status: 201 });
  const { rows } = await store.database.pool.query('SELECT FROM webhooks WHERE id >= $1', [before.body.id]);
  expect(rows).toEqual([]);
});

it('A list has the client’s own webhooks page by page, without secrets', async () => {
  const [first, second, third] = [await created(), await created(), await created()];
  await (await store.caller()).post('/webhooks', { url: URL });
  const pages = await pagesOf<Webhook>(caller, '/webhooks?limit=2');
  const ids = pages.map((webhooks) => webhooks.map(({ id }) => id));
  expect(ids).toEqual([[first.id, second.id], [third.id]]);
  expect(JSON.stringify(pages)).not.toContain('whsec_');
});

// every-operation.spec.ts tests that PATCH changes nothing that its body does not name.
it('PATCH removes a field by null', async () => {
  const { id } = await created({ types: ['pet.created'], description: 'x' });
  const nothing = { types: null, description: null, enabled: true };
  const { body } = await caller.patch<Webhook>(`/webhooks/${id}`, nothing);
  expect(Object.keys(body).sort()).toEqual(['createdAt', 'enabled', 'id', 'url']);
});

it('409 too_many_secrets while five are valid, also for concurrent rotations; 200 when the oldest has ended', async () => {
  const { id } = await created();
  const rotate = () => caller.post<WebhookWithSecret & ErrorBody>(`/webhooks/${id}/secret`);
  const answers = await Promise.all(Array.from({ length: 7 }, rotate));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409, 409]);
  const refused = await rotate();
  expect(refused.body.code).toBe('too_many_secrets');
  const [, end] = /ends at (\S+);/.exec(refused.body.message)!;
  store.clock.set(Date.parse(end!));
  expect((await rotate()).status).toBe(200);
});

it.each([
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', ''],
  ['POST', '/secret'],
  ['POST', '/test'],
  ['GET', '/deliveries'],
  ['POST', '/deliveries/1/retry'],
])('404 webhook_not_found for one of another client and a deleted one: %s %s', async (method, path) => {
  const [foreign, gone] = [await created(), await created()];
  await caller.delete(`/webhooks/${gone.id}`);
  const body = method === 'PATCH' ? { enabled: true } : undefined;
  for (const [one, { id }] of [
    [await store.caller(), foreign],
    [caller, gone],
  ] as const) {
    const refused = await one.send<ErrorBody>(method, `/webhooks/${id}${path}`, body);
    expect(refused.body.code).toBe('webhook_not_found');
  }
  expect((await caller.get(`/webhooks/${foreign.id}`)).status).toBe(200);
});

it('409 webhook_disabled for a test while it is disabled, which sends nothing later', async () => {
  const { id } = await created();
  const refused = await caller.post<ErrorBody>(`/webhooks/${id}/test`);
  expect([refused.status, refused.body.code]).toEqual([409, 'webhook_disabled']);
  await caller.patch(`/webhooks/${id}`, { enabled: true });
  expect((await caller.get(`/webhooks/${id}/deliveries`)).body).toEqual([]);
  expect((await caller.post(`/webhooks/${id}/test`)).status).toBe(202);
});

it('Deliveries are listed newest first, page by page, and by status; none is one of another webhook', async () => {
  const { id } = await created({ enabled: true, types: ['pet.deleted'] });
  for (let count = 0; count < 3; count += 1) {
    await caller.post(`/webhooks/${id}/test`);
  }
  await caller.patch(`/webhooks/${id}`, { enabled: false });
  const path = `/webhooks/${id}/deliveries`;
  const all = (await caller.get<{ id: number }[]>(path)).body.map((delivery) => delivery.id);
  const pages = await pagesOf<{ id: number }>(caller, `${path}?limit=2&status=pending`);
  expect(all).toEqual([...all].sort((one, other) => other - one));
  expect(pages.map((page) => page.map(({ id }) => id))).toEqual([all.slice(0, 2), all.slice(2)]);
  expect((await caller.get(`${path}?status=failed`)).body).toEqual([]);
  const { id: other } = await created();
  const refused = await caller.post<ErrorBody>(`/webhooks/${other}/deliveries/${all[0]}/retry`);
  expect(refused.body.code).toBe('delivery_not_found');
});

// A thief of a backup can read everything that the database holds.
it('No secret is in the database, in the log or in a list', async () => {
  const keyed = caller.with({ 'Idempotency-Key': 'kept' });
  const { body } = await keyed.post<WebhookWithSecret>('/webhooks', { url: URL, enabled: false });
  const { body: next } = await caller.post<WebhookWithSecret>(`/webhooks/${body.id}/secret`);
  const { rows } = await store.database.pool.query<{ text: string }>(
    `SELECT to_json(webhooks)::text AS text FROM webhooks
     UNION ALL SELECT to_json(idempotency_records)::text FROM idempotency_records`,
  );
  const stored = rows.map(({ text }) => text).join('\n');
  for (const secret of [body.secret, next.secret]) {
    expect(stored).not.toContain(secret.slice('whsec_'.length, 30));
  }
  expect(stored).toContain('"sealed');
});
