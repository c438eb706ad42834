import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PetStoreError, createPetStoreClient } from '#libs/client';
import { until } from '../../../support/eventually';
import { KEY, LOST, NO_PETS, failure, json, scriptedClient, failureOf } from '../../../support/scripted';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const A_PET = { name: 'Ada', categoryId: 1 };
const CREATED = json({ id: 1, name: 'Ada', categoryId: 1 }, {}, 201);
const limited = (seconds: number) => failure(429, 'rate_limit_exceeded', { 'Retry-After': String(seconds) });
const unavailable = failure(503, 'service_unavailable', { 'Retry-After': '1' });
/** Answers nothing until it is aborted. */
const silent = (request: Request) =>
  new Promise<Response>((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
  });

describe('A call', () => {
  it('waits as long as a 429 says, and then succeeds', async () => {
    const { client, sent, waits } = scriptedClient([limited(42), NO_PETS]);
    expect(await client.pets.list()).toEqual([]);
    expect([sent.length, waits]).toEqual([2, [42_000]]);
  });

  it('is attempted at most four times, and then fails with the last error', async () => {
    const { client, sent, waits } = scriptedClient([LOST, LOST, unavailable]);
    const error = await failureOf(client.pets.list());
    expect([sent.length, waits]).toEqual([4, [250, 500, 1_000]]);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503, operation: 'GET /pets' });
  });

  it('fails at once when another wait would exceed the longest total wait', async () => {
    const { client, sent, waits } = scriptedClient([limited(60), limited(31)]);
    expect(await failureOf(client.pets.list())).toMatchObject({ status: 429, retryAfterSeconds: 31 });
    expect([sent.length, waits]).toEqual([2, [60_000]]);
  });

  it('fails at once when the key is banned', async () => {
    const { client, sent } = scriptedClient([failure(403, 'api_key_banned', { 'Retry-After': '1' })]);
    expect(await failureOf(client.pets.list())).toMatchObject({ status: 403, retryAfterSeconds: 1 });
    expect(sent.length).toBe(1);
  });

  it('sends its whole body with each attempt, and the same Idempotency-Key', async () => {
    const { client, sent } = scriptedClient([LOST, unavailable, limited(1), CREATED]);
    await client.pets.create(A_PET);
    const keys = new Set(sent.map(({ headers }) => headers.get('idempotency-key')));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set([JSON.stringify(A_PET)]));
    await client.pets.create(A_PET);
    expect(keys).not.toContain(sent.at(-1)!.headers.get('idempotency-key'));
  });

  it("keeps the caller's own Idempotency-Key, and includes it in the error", async () => {
    const { client, sent } = scriptedClient([LOST]);
    const error = await failureOf(client.pets.create(A_PET, { idempotencyKey: 'order-1' }));
    expect(error).toMatchObject({ code: 'no_answer', status: 0, idempotencyKey: 'order-1', cause: LOST });
    expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set(['order-1']));
  });

  it('waits for its own first attempt while that still runs', async () => {
    const { client, waits } = scriptedClient([LOST, failure(409, 'idempotency_in_progress'), CREATED]);
    expect((await client.pets.create(A_PET)).id).toBe(1);
    expect(waits).toEqual([250, 500]);
  });

  it('never changes anything twice: repeats a refused PATCH, but not one without a response', async () => {
    const lost = scriptedClient([LOST]);
    expect(await failureOf(lost.client.pets.update(1, { name: 'Ada' }))).toMatchObject({ code: 'no_answer' });
    expect([lost.sent.length, lost.sent[0]!.headers.has('idempotency-key')]).toEqual([1, false]);
    const refused = scriptedClient([limited(1), json({ id: 1, name: 'Ada', categoryId: 1 })]);
    expect((await refused.client.pets.update(1, { name: 'Ada' })).name).toBe('Ada');
  });

  it('is repeated when the connection breaks in the middle of the response', async () => {
    const broken = () =>
      new Response(new ReadableStream({ start: (body) => body.error(LOST) }), { status: 200 });
    const { client, sent } = scriptedClient([broken, NO_PETS]);
    expect(await client.pets.list()).toEqual([]);
    expect(sent.length).toBe(2);
  });

  it('treats silence as a lost connection', async () => {
    const { client, sent } = scriptedClient([silent, NO_PETS], { attemptTimeoutSeconds: 0.5 });
    const response = client.pets.list().withResponse();
    // What only waits must not be collected as garbage.
    await until(() => sent.length === 1);
    collectGarbage();
    expect((await response).data).toEqual([]);
    expect(sent.length).toBe(2);
  });
});

describe('An abort', () => {
  const reason = new Error('enough');

  it('ends a call before it is sent', async () => {
    const { client, sent } = scriptedClient([NO_PETS]);
    expect(await failureOf(client.pets.list({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(sent).toEqual([]);
  });

  it('ends a request in progress, and is not mistaken for a lost connection', async () => {
    const controller = new AbortController();
    const { client, sent } = scriptedClient([silent]);
    const call = failureOf(client.pets.update(1, { name: 'Ada' }, { signal: controller.signal }));
    setImmediate(() => controller.abort(reason));
    expect(await call).toBe(reason);
    expect(sent.length).toBe(1);
  });

  it('ends a wait immediately', async () => {
    const controller = new AbortController();
    const client = createPetStoreClient({
      baseUrl: 'http://store.test',
      apiKey: KEY,
      fetch: () => {
        setImmediate(() => controller.abort(reason));
        return Promise.resolve(limited(60));
      },
    });
    expect(await failureOf(client.pets.list({}, { signal: controller.signal }))).toBe(reason);
  });
});

describe('A response from something other than the service', () => {
  it.each([
    ['an error page of a proxy', new Response('<html>', { status: 403 }), 403],
    ['a page instead of JSON', new Response('<html>', { headers: { 'Content-Type': 'text/html' } }), 200],
    ['a redirect, which must not receive the key', Response.redirect('http://elsewhere.test/', 307), 307],
    ['JSON that ends early', new Response('[', json([])), 200],
    ['JSON of another service', json({ error: 'no' }, {}, 400), 400],
    ['JSON null', json(null, {}, 404), 404],
  ])('is an error: %s', async (_what, reply, status) => {
    const { client, sent } = scriptedClient([reply]);
    expect(await failureOf(client.pets.list())).toMatchObject({ code: 'unexpected_answer', status });
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual']);
  });

  it('is retried when a proxy has no available instance', async () => {
    const { client } = scriptedClient([new Response('', { status: 502 }), NO_PETS]);
    expect(await client.pets.list()).toEqual([]);
  });
});

describe('The key', () => {
  it('is sent in X-API-Key and nowhere else', async () => {
    const { client, sent } = scriptedClient([failure(404, 'pet_not_found', { 'X-Request-Id': 'a1' })]);
    const error = await failureOf(client.pets.get(1));
    expect(sent[0]!.headers.get('x-api-key')).toBe(KEY);
    expect(sent[0]!.url).toBe('http://store.test/pets/1');
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error).toMatchObject({
      code: 'pet_not_found',
      message: 'It is pet_not_found.',
      requestId: 'a1',
    });
    expect(inspect([client, error], { depth: 9, showHidden: true })).not.toContain('psk_live');
  });

  it('is not quoted when it cannot be sent', () => {
    const make = () => createPetStoreClient({ baseUrl: 'http://store.test', apiKey: 'psk_live_a\nb' });
    expect(make).toThrow(new TypeError('apiKey must be printable ASCII without spaces.'));
  });

  it('is required, for example when the environment lacks it', () => {
    const make = () =>
      createPetStoreClient({ baseUrl: 'http://store.test', apiKey: process.env.NO_SUCH_KEY! });
    expect(make).toThrow(new TypeError('apiKey is missing.'));
  });
});

it.each([
  [{ baseUrl: undefined }, 'baseUrl must be an address that begins with http:// or https://.'],
  [{ baseUrl: 'localhost:3000' }, 'baseUrl must be an address that begins with http:// or https://.'],
  [{ baseUrl: '/pets' }, 'baseUrl must be an address that begins with http:// or https://.'],
  [{ maxWaitSeconds: NaN }, 'maxWaitSeconds must be a number from 0 to 1000000.'],
  [{ attemptTimeoutSeconds: Infinity }, 'attemptTimeoutSeconds must be a number from 0 to 1000000.'],
])('The option %j is rejected', (option, message) => {
  expect(() => scriptedClient([], option)).toThrow(new TypeError(message));
});

const overTheDay = (seconds: number) =>
  failure(429, 'daily_quota_exceeded', { 'Retry-After': String(seconds), 'X-Request-Id': 'first' });
const standing = (remaining: number) =>
  json(
    {},
    { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': '1' },
  );

describe('After a 429', () => {
  it('no other call of the client is sent until Retry-After has passed', async () => {
    const { client, sent, waits } = scriptedClient([overTheDay(30), NO_PETS], { maxAttempts: 1 });
    await failureOf(client.pets.list());
    await client.categories.list();
    expect([sent.length, waits]).toEqual([2, [30_000]]);
  });

  it('a call that cannot wait that long fails with the refusal, without being sent', async () => {
    const { client, sent } = scriptedClient([overTheDay(40_000)]);
    await failureOf(client.pets.list());
    const error = await failureOf(client.categories.create({ name: 'Dogs' }));
    expect(error).toMatchObject({
      code: 'daily_quota_exceeded',
      status: 429,
      operation: 'POST /categories',
      retryAfterSeconds: 40_000,
      idempotencyKey: expect.any(String),
    });
    expect(error).not.toHaveProperty('requestId');
    expect(sent.length).toBe(1);
  });

  it('GET /rate-limit is still sent, and releases the others when requests remain', async () => {
    const { client, sent } = scriptedClient([overTheDay(40_000), standing(0), standing(5), NO_PETS]);
    await failureOf(client.pets.list());
    await client.account.rateLimit();
    await failureOf(client.pets.list());
    expect(sent.length).toBe(2);
    await client.account.rateLimit();
    await client.pets.list();
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
      '/pets',
      '/rate-limit',
      '/rate-limit',
      '/pets',
    ]);
  });

  it('a response to an earlier request does not release the others', async () => {
    let late = (_answer: Response) => {};
    const { client, sent } = scriptedClient([
      () => new Promise((resolve) => (late = resolve)),
      overTheDay(40_000),
    ]);
    const early = client.pets.list().withResponse();
    await failureOf(client.pets.list());
    late(standing(5));
    await early;
    await failureOf(client.pets.list());
    expect(sent.length).toBe(2);
  });
});

describe('Requests under way', () => {
  it('are at most ten, in order', async () => {
    const answers: (() => void)[] = [];
    const { client, sent } = scriptedClient([
      () => new Promise((resolve) => answers.push(() => resolve(NO_PETS.clone()))),
    ]);
    const calls = Array.from({ length: 25 }, (_none, index) =>
      client.pets.list({ limit: index + 1 }).withResponse(),
    );
    let most = 0;
    for (let answered = 0; answered < 25; answered += 1) {
      await new Promise(setImmediate);
      most = Math.max(most, sent.length - answered);
      answers[answered]!();
    }
    await Promise.all(calls);
    expect(most).toBe(10);
    const limits = sent.map(({ url }) => Number(new URL(url).searchParams.get('limit')));
    expect(limits).toEqual(Array.from({ length: 25 }, (_none, index) => index + 1));
  });

  it('are replaced by others when one is aborted while it waits', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const answers: (() => void)[] = [];
    const { client, sent } = scriptedClient([
      () => new Promise((resolve) => answers.push(() => resolve(NO_PETS.clone()))),
    ]);
    const calls = Array.from({ length: 10 }, () => client.pets.list().withResponse());
    const aborted = failureOf(client.pets.list({}, { signal: controller.signal }));
    calls.push(client.categories.list().withResponse() as never);
    await new Promise(setImmediate);
    controller.abort(reason);
    expect(await aborted).toBe(reason);
    answers[0]!();
    await new Promise(setImmediate);
    expect(sent.map(({ url }) => new URL(url).pathname).slice(9)).toEqual(['/pets', '/categories']);
    answers.forEach((answer) => answer());
    await Promise.all(calls);
  });
});
