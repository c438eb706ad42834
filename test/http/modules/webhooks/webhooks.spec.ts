import type { Webhook, WebhookWithSecret } from '#libs/client';
import { type ApiClient, type ErrorBody, nextOf } from '../../../support/api-client';
import { CLIENT_DEPENDENTS, ClientsService } from '../../../../src/modules/auth';
import { until } from '../../../support/eventually';
import type { Settings } from '../../../../src/settings';
import { startService } from '../../../support/service';
import { useStore } from '../../../support/use-service';
import { lockWaits } from '../../../support/while-locked';

describe('webhooks', () => {
  const { service: store } = useStore();
  const URL = 'https://shop.example/events';
  let apiKey: string;
  let caller: ApiClient;

  // Each test has a client of its own, who may have ten.
  beforeEach(async () => {
    apiKey = (await store.issueKey()).key;
    caller = store.callerWith(apiKey);
  });

  async function created(body: object = {}): Promise<WebhookWithSecret> {
    const { body: webhook } = await caller.post<WebhookWithSecret>('/webhooks', {
      url: URL,
      enabled: false,
      ...body,
    });
    return webhook;
  }

  describe('POST /webhooks', () => {
    it('201: returns what GET returns, and the secret', async () => {
      const body = {
        url: URL,
        types: ['pet.created', 'order.placed'],
        description: 'Printer',
        enabled: false,
      };
      const answer = await caller.post<WebhookWithSecret>('/webhooks', body);
      const { secret, ...webhook } = answer.body;
      const found = await caller.get<Webhook>(answer.headers.get('location')!);

      expect(answer.status).toBe(201);
      expect(webhook).toMatchObject(body);
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(found.body).toEqual(webhook);
      expect(found.headers.get('etag')).toBe(answer.headers.get('etag'));
    });

    it('201 again after a restart that allows its URL no more; 503 without the key that sealed its secret', async () => {
      const key = { 'Idempotency-Key': 'before the restart' };
      const url = 'http://127.0.0.1:8080/';
      const first = await caller.with(key).post<WebhookWithSecret>('/webhooks', { url });
      const settings: Partial<Settings>[] = [{ webhookNetworks: [] }, { webhookKey: undefined }];
      const answers = [];
      for (const changed of settings) {
        const restarted = await startService({ database: store.database, settings: changed });
        answers.push(await restarted.callerWith(apiKey).with(key).post('/webhooks', { url }));
        await restarted.close();
      }
      expect(first.status).toBe(201);
      expect(answers.map(({ status }) => status)).toEqual([201, 503]);
      expect(answers[0]!.text).toBe(first.text);
    });

    test.each([
      ['http://10.0.0.1/', 'must not lead to'],
      ['https://me:hunter2@shop.example/', 'must not contain a user'],
    ])('422 webhook_url_not_allowed, also for PATCH: %s', async (url, why) => {
      const { id } = await created();
      for (const [method, path] of [
        ['POST', '/webhooks'],
        ['PATCH', `/webhooks/${id}`],
      ] as const) {
        const answer = await caller.send<ErrorBody>(method, path, { url });
        expect([answer.status, answer.body.code]).toEqual([422, 'webhook_url_not_allowed']);
        expect(answer.body.message).toContain(`url ${why}`);
        expect(answer.text).not.toContain('hunter2');
      }
      expect((await caller.get<Webhook>(`/webhooks/${id}`)).body.url).toBe(URL);
    });

    test.each([[null], [[]], [undefined]])(
      '201: enabled by default, and the types %j mean all',
      async (types) => {
        const { body } = await caller.post<WebhookWithSecret>('/webhooks', { url: URL, types });
        expect(body.enabled).toBe(true);
        expect(body).not.toHaveProperty('types');
        await caller.patch(`/webhooks/${body.id}`, { types: ['pet.created', 'pet.created'] });
        const { body: patched } = await caller.get<Webhook>(`/webhooks/${body.id}`);
        expect(patched.types).toEqual(['pet.created']);
      },
    );

    test.each([[['other']], ['pet.created'], [Array(12).fill('pet.created')]])(
      '400 validation_failed: the types %j',
      async (types) => {
        const { body } = await caller.post<ErrorBody>('/webhooks', { url: URL, types });
        expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
        expect(body.message).toContain('types must be');
      },
    );

    it('409 too_many_webhooks for the eleventh, even for concurrent requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: 25 }, () => caller.post('/webhooks', { url: URL, enabled: false })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).toHaveLength(10);
      expect(statuses.filter((status) => status === 409)).toHaveLength(15);
      const list = await caller.get<Webhook[]>('/webhooks');
      expect(list.body).toHaveLength(10);

      await caller.delete(`/webhooks/${list.body[0]!.id}`);
      expect((await caller.post('/webhooks', { url: URL })).status).toBe(201);
      const keyed = caller.with({ 'Idempotency-Key': 'eleventh' });
      const refused = await keyed.post<ErrorBody>('/webhooks', { url: URL });
      expect(refused.body.code).toBe('too_many_webhooks');
      await caller.delete(`/webhooks/${list.body[1]!.id}`);
      expect((await keyed.post('/webhooks', { url: URL })).status).toBe(409);
    });
  });

  it('end with their client, also one that is created meanwhile', async () => {
    const { client, key } = await store.issueKey();
    const doomed = store.callerWith(key);
    const before = await doomed.post<WebhookWithSecret>('/webhooks', { url: URL });
    let meanwhile: Promise<unknown> | undefined;
    const dependents = store.app.get<{ end(): Promise<void> }[]>(CLIENT_DEPENDENTS);
    dependents.push({
      end: async () => {
        meanwhile = doomed.post('/webhooks', { url: URL });
        await until(async () => (await lockWaits(store.database.pool)) === 1);
      },
    });
    await store.app.get(ClientsService).remove(client);
    dependents.pop();
    expect(await meanwhile).toMatchObject({ status: 201 });
    const { rows } = await store.database.pool.query(
      `SELECT enabled, deleted_at IS NULL AS remains FROM webhooks WHERE id >= $1 ORDER BY id`,
      [before.body.id],
    );
    expect(rows).toEqual([1, 2].map(() => ({ enabled: false, remains: false })));
  });

  describe('GET /webhooks', () => {
    it('200: lists the client’s own webhooks page by page, without secrets', async () => {
      const [first, second, third] = [await created(), await created(), await created()];
      await (await store.caller()).post('/webhooks', { url: URL });
      const page = await caller.get<Webhook[]>('/webhooks?limit=2');
      const rest = await caller.get<Webhook[]>(nextOf(page)!);

      expect(page.body.map(({ id }) => id)).toEqual([first.id, second.id]);
      expect(rest.body.map(({ id }) => id)).toEqual([third.id]);
      expect(page.text + rest.text).not.toContain('whsec_');
    });
  });

  describe('PATCH /webhooks/{webhookId}', () => {
    it('200: changes the given fields; null removes', async () => {
      const { id, secret, ...before } = await created({ types: ['pet.created'], description: 'x' });
      const path = `/webhooks/${id}`;
      const moved = await caller.patch<Webhook>(path, { url: 'https://elsewhere.example/' });
      expect(secret).toBeDefined();
      expect(moved.body).toEqual({ ...before, id, url: 'https://elsewhere.example/' });

      const { body } = await caller.patch<Webhook>(path, { types: null, description: null, enabled: true });
      expect(Object.keys(body).sort()).toEqual(['createdAt', 'enabled', 'id', 'url']);
    });
  });

  describe('POST /webhooks/{webhookId}/secret', () => {
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
  });

  describe('a webhook of another client, a deleted one, and one that never existed', () => {
    test.each([
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/1/retry'],
    ])('404 webhook_not_found: %s %s', async (method, path) => {
      const foreign = await created();
      const gone = await created();
      await caller.delete(`/webhooks/${gone.id}`);
      const stranger = await store.caller();
      const body = method === 'PATCH' ? { enabled: true } : undefined;
      const answers = [
        await stranger.send<ErrorBody>(method, `/webhooks/${foreign.id}${path}`, body),
        await caller.send<ErrorBody>(method, `/webhooks/${gone.id}${path}`, body),
        await caller.send<ErrorBody>(method, `/webhooks/999999${path}`, body),
      ];
      expect(answers.map(({ body: { code } }) => code)).toEqual(Array(3).fill('webhook_not_found'));
      expect((await caller.get(`/webhooks/${foreign.id}`)).status).toBe(200);
    });
  });

  describe('deliveries', () => {
    it('GET 200: newest first, page by page, and by status', async () => {
      const { id } = await created();
      for (let count = 0; count < 3; count += 1) {
        await caller.post(`/webhooks/${id}/test`);
      }
      const path = `/webhooks/${id}/deliveries`;
      const all = (await caller.get<{ id: number }[]>(path)).body.map((delivery) => delivery.id);
      const page = await caller.get<{ id: number }[]>(`${path}?limit=2&status=pending`);
      const rest = await caller.get<{ id: number }[]>(nextOf(page)!);

      expect(all).toEqual([...all].sort((one, other) => other - one));
      expect([...page.body, ...rest.body].map((delivery) => delivery.id)).toEqual(all);
      expect(rest.headers.get('link')).toBeNull();
      expect((await caller.get(`${path}?status=failed`)).body).toEqual([]);
    });

    it('POST retry 404 delivery_not_found for a delivery of another webhook', async () => {
      const [one, other] = [await created(), await created()];
      const { body } = await caller.post<{ id: number }>(`/webhooks/${one.id}/test`);
      const answer = await caller.post<ErrorBody>(`/webhooks/${other.id}/deliveries/${body.id}/retry`);
      expect(answer.body.code).toBe('delivery_not_found');
    });

    it('POST retry 202: due now, with all attempts again', async () => {
      const { id } = await created();
      const { body: delivery } = await caller.post<{ id: number }>(`/webhooks/${id}/test`);
      const answer = await caller.post(`/webhooks/${id}/deliveries/${delivery.id}/retry`);
      expect(answer.status).toBe(202);
      expect(answer.body).toMatchObject({ id: delivery.id, status: 'pending', attempts: 0 });
    });
  });

  // What the database holds is what a thief of a backup would read.
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
});
