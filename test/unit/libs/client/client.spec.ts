import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type PetStoreClient,
  PetStoreError,
  type PetStoreOptions,
  all,
  createPetStoreClient,
} from '#libs/client';
import { until } from '../../../support/eventually';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KEY = 'psk_live_secret';

type Reply = Response | Error | ((request: Request) => Response | Promise<Response>);

interface Sent {
  method: string;
  url: string;
  redirect: string;
  headers: Headers;
  body: string;
}

/** An SDK whose requests get replies from a list instead of a network. Its time passes only while it waits. */
function scriptedSdk(replies: Reply[], options: Partial<PetStoreOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let now = 0;
  const sdk = createPetStoreClient({
    baseUrl: 'http://store.test',
    apiKey: KEY,
    now: () => now,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
    ...options,
    fetch: async (request) => {
      const { method, url, headers, redirect } = request;
      sent.push({ method, url, headers, redirect, body: await request.clone().text() });
      const reply = replies[Math.min(sent.length, replies.length) - 1]!;
      if (reply instanceof Error) {
        throw reply;
      }
      return typeof reply === 'function' ? await reply(request) : reply.clone();
    },
  });
  return { sdk, sent, waits, pass: (milliseconds: number) => void (now += milliseconds) };
}

function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  });
}

function failure(status: number, code: string, headers: Record<string, string> = {}): Response {
  return json({ code, message: `It is ${code}.`, status }, headers, status);
}

const NO_PETS = json([]);
const LOST = new TypeError('fetch failed');

/** The error with which the promise is rejected. */
async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It succeeded.');
    },
    (error: unknown) => error,
  );
}

beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

const body = { name: 'Ada', categoryId: 1 };
const PET = { id: 1, name: 'Ada', categoryId: 1, status: 'available' };
const CREATED = json(PET, {}, 201);
const limited = (seconds: number) => failure(429, 'rate_limit_exceeded', { 'Retry-After': String(seconds) });
const unavailable = failure(503, 'service_unavailable', { 'Retry-After': '1' });
/** A reply that never comes. It fails when the request is aborted. */
const silent = (request: Request) =>
  new Promise<Response>((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
  });

describe('A call', () => {
  const at = (date: string, retryAfter: string) =>
    failure(503, 'service_unavailable', { Date: date, 'Retry-After': retryAfter });
  const NOON = 'Sat, 21 Nov 2026 12:00:00 GMT';
  it.each([
    ['Sat, 21 Nov 2026 12:00:08 GMT', 8_000],
    ['Saturday, 21-Nov-26 12:00:08 GMT', 8_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['2026-11-21T12:00:08Z', 250],
    ['-5', 250],
    ['1.5', 250],
  ])('waits until the date of Retry-After, by the clock of the service: %s', async (retryAfter, wait) => {
    const { sdk, waits } = scriptedSdk([at(NOON, retryAfter), NO_PETS]);
    await sdk.listPets();
    expect(waits).toEqual([wait]);
  });

  it('waits as long as a 429 says, succeeds, and reports each wait to onRetry, with its reason', async () => {
    const onRetry = jest.fn();
    const lost = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    const { sdk, waits } = scriptedSdk([lost, limited(42), NO_PETS], { onRetry });
    expect((await sdk.listPets({ query: { name: 'secret' } })).data).toEqual([]);
    expect(waits).toEqual([250, 42_000]);
    const reason = 'no answer (connect ECONNREFUSED 127.0.0.1:1)';
    expect(onRetry.mock.calls).toEqual([
      [{ operation: 'GET /pets', waitSeconds: 0.25, status: 0, reason }],
      [{ operation: 'GET /pets', waitSeconds: 42, status: 429, reason: 'the response was 429' }],
    ]);
  });

  it('reports the waits of a follower to onRetry as well', async () => {
    const onRetry = jest.fn();
    const page = json([], { Link: '</events?cursor=a>; rel="next"' });
    const { sdk, waits } = scriptedSdk([limited(40_000), page], { onRetry });
    expect((await sdk.followEvents().next()).value).toMatchObject({ next: 'a' });
    const wait = { operation: 'GET /events', waitSeconds: 40_000, status: 429 };
    expect(onRetry.mock.calls).toEqual([[{ ...wait, reason: 'the response was 429' }]]);
    expect(waits).toEqual([40_000_000]);
  });

  it.each([
    ['ENETUNREACH', Object.assign(new AggregateError([]), { code: 'ENETUNREACH' })],
    ['fetch failed', undefined],
  ])('without an answer fails with the reason: %s', async (reason, cause) => {
    const { sdk } = scriptedSdk([new TypeError('fetch failed', { cause })]);
    const message = `GET /pets: no answer (${reason}).`;
    expect(await failureOf(sdk.listPets())).toMatchObject({ message, code: 'no_answer' });
  });

  it('is attempted at most four times, and then fails with the last error', async () => {
    const { sdk, sent, waits } = scriptedSdk([LOST, LOST, unavailable]);
    const error = await failureOf(sdk.listPets());
    expect([sent.length, waits]).toEqual([4, [250, 500, 1_000]]);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503, operation: 'GET /pets' });
  });

  it('waits longer each time, up to ten seconds, and at random', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const { sdk, waits } = scriptedSdk([LOST, LOST, LOST, LOST, LOST, limited(7), NO_PETS], {
      maxAttempts: 7,
    });
    await sdk.listPets();
    expect(waits).toEqual([375, 750, 1_500, 3_000, 6_000, 12_000]);
  });

  it('fails at once when another wait would exceed the longest total wait', async () => {
    const { sdk, sent, waits } = scriptedSdk([limited(60), limited(31)]);
    expect(await failureOf(sdk.listPets())).toMatchObject({ status: 429, retryAfterSeconds: 31 });
    expect([sent.length, waits]).toEqual([2, [60_000]]);
  });

  it('sends its whole body with each attempt, and the same Idempotency-Key', async () => {
    const { sdk, sent } = scriptedSdk([LOST, unavailable, limited(1), CREATED]);
    expect((await sdk.createPet({ body })).data).toEqual(PET);
    const keys = new Set(sent.map(({ headers }) => headers.get('idempotency-key')));
    expect([...keys]).toEqual([expect.stringMatching(/^[\d-]{10,}$/)]);
    expect(new Set(sent.map(({ body: text }) => text))).toEqual(new Set([JSON.stringify(body)]));
    await sdk.createPet({ body });
    expect(keys).not.toContain(sent.at(-1)!.headers.get('idempotency-key'));
  });

  it("keeps the caller's own Idempotency-Key, and includes it in the error", async () => {
    const { sdk, sent } = scriptedSdk([LOST]);
    const error = await failureOf(sdk.createPet({ body, header: { 'Idempotency-Key': 'order-1' } }));
    expect(error).toMatchObject({ code: 'no_answer', status: 0, idempotencyKey: 'order-1', cause: LOST });
    expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set(['order-1']));
  });

  it('waits for its own first attempt while that still runs', async () => {
    const { sdk, waits } = scriptedSdk([LOST, failure(409, 'idempotency_in_progress'), CREATED]);
    expect((await sdk.createPet({ body })).data.id).toBe(1);
    expect(waits).toEqual([250, 500]);
  });

  it.each([
    ['a broken one', () => new Response(new ReadableStream({ start: (stream) => stream.error(LOST) }))],
    ['one of a proxy without an available instance', new Response('', { status: 502 })],
    ['one of a proxy that waited too long', new Response('', { status: 504 })],
  ])('is repeated after a response that is none: %s', async (_what, reply) => {
    const { sdk, sent } = scriptedSdk([reply, NO_PETS]);
    expect((await sdk.listPets()).data).toEqual([]);
    expect(sent.length).toBe(2);
  });

  it('treats silence as a lost connection', async () => {
    const { sdk, sent } = scriptedSdk([silent, NO_PETS], { attemptTimeoutSeconds: 0.5 });
    const response = sdk.listPets();
    // The call must not be collected as garbage while it waits.
    await until(() => sent.length === 1);
    collectGarbage();
    expect((await response).data).toEqual([]);
    expect(sent.length).toBe(2);
  });

  const foreign = 'unexpected_answer';
  const html = { headers: { 'Content-Type': 'text/html' } };
  const toElsewhere = { status: 308, headers: { Location: 'https://x.test/' } };
  it.each<[string, Response, string, string]>([
    ['during a ban', failure(403, 'api_key_banned', { 'Retry-After': '1' }), 'api_key_banned', 'It is'],
    ['after a conflict', failure(409, 'insufficient_stock'), 'insufficient_stock', 'It is'],
    ['after an internal error', failure(500, 'internal_error'), 'internal_error', 'It is'],
    ['if nothing has changed', new Response(null, { status: 304 }), 'not_modified', 'has not changed (304).'],
    ['after a redirect', new Response(null, toElsewhere), foreign, 'a redirect to https://x.test/, which is'],
    ['after a page instead of JSON', new Response('<html>'), foreign, 'the response is not JSON ('],
    ['after JSON that ends early', new Response('[', json([])), foreign, 'the response is not JSON ('],
    ['after a page of a proxy', new Response('', { ...html, status: 403 }), foreign, '403 (text/html)'],
    ['after the error of another service', json({ error: 'no' }, {}, 400), foreign, '400 (application/json'],
    ['after JSON null', json(null, {}, 404), foreign, '404 (application/json'],
  ])('is not repeated, and fails with a message that says why, %s', async (_when, reply, code, message) => {
    const { sdk, sent } = scriptedSdk([reply]);
    const { status } = reply;
    const expected = {
      code,
      status,
      message: expect.stringContaining(message) as string,
      response: { status },
    };
    expect(await failureOf(sdk.listPets())).toMatchObject(expected);
    expect(sent.length).toBe(1);
  });

  it.each([
    ['one without a response', LOST, 1],
    ['one that a proxy could not pass on', unavailable, 1],
    ['but one that was refused', limited(1), 2],
  ])('never changes anything twice by PATCH: not %s', async (_what, reply, requests) => {
    const { sdk, sent } = scriptedSdk([reply, json(PET)]);
    await sdk.updatePet({ path: { petId: 1 }, body: { name: 'Ada' } }).catch(() => undefined);
    expect([sent.length, sent[0]!.headers.has('idempotency-key')]).toEqual([requests, false]);
  });
});

it('The options of one call win over those of the SDK: attempts, waiting time, timeout, and the Idempotency-Key', async () => {
  const { sdk, sent, waits } = scriptedSdk([LOST, limited(30), LOST]);
  await failureOf(sdk.createPet({ body, maxAttempts: 1, idempotencyKey: 'mine' }));
  expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine']);
  expect(await failureOf(sdk.listPets({ maxWaitSeconds: 29 }))).toMatchObject({ status: 429 });
  expect([sent.length, waits]).toEqual([2, []]);
  const { sdk: waiting } = scriptedSdk([silent], { maxAttempts: 1 });
  const error = await failureOf(waiting.listPets({ attemptTimeoutSeconds: 0.01 }));
  expect(error).toMatchObject({ message: 'GET /pets: no answer (timeout after 0.01 s).' });
});

it('An error has the id of its request, and is printed with its fields in one line after the stack', async () => {
  const { sdk } = scriptedSdk([failure(404, 'pet_not_found', { 'X-Request-Id': 'abc' })]);
  const error = (await failureOf(sdk.getPet({ path: { petId: 1 } }))) as PetStoreError;
  expect(error).toMatchObject({ requestId: 'abc', response: { status: 404 } });
  const [fields, ...more] = inspect(error).slice(error.stack!.length).trim().split('\n');
  const operation = 'GET /pets/{petId}';
  expect(JSON.parse(fields!)).toEqual({ operation, status: 404, code: 'pet_not_found', requestId: 'abc' });
  expect(more).toEqual([]);
});

describe('An abort', () => {
  const reason = new Error('enough');

  it('ends all() before the next entry of the page', async () => {
    const controller = new AbortController();
    const { sdk, sent } = scriptedSdk([json([PET, PET], { Link: '</pets?cursor=a>; rel="next"' })]);
    const pets = all(sdk.listPets, { signal: controller.signal });
    await pets.next();
    controller.abort(reason);
    expect([await failureOf(pets.next()), sent.length]).toEqual([reason, 1]);
  });

  it('ends a call before it is sent', async () => {
    const { sdk, sent } = scriptedSdk([NO_PETS]);
    expect(await failureOf(sdk.listPets({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(sent).toEqual([]);
  });

  it('ends a request in progress, and is not mistaken for a lost connection', async () => {
    const controller = new AbortController();
    const { sdk, sent } = scriptedSdk([silent]);
    const call = failureOf(sdk.listPets({ signal: controller.signal }));
    setTimeout(() => {
      // The call must not be collected as garbage while it waits.
      collectGarbage();
      setTimeout(() => controller.abort(reason), 10);
    }, 10);
    expect(await call).toBe(reason);
    expect(sent.length).toBe(1);
  });

  it('leaves no listener on the signal, which may live long', async () => {
    const { signal } = new AbortController();
    const { sdk } = scriptedSdk([NO_PETS, failure(404, 'pet_not_found'), LOST]);
    for (let call = 0; call < 3; call += 1) {
      await sdk.listPets({ signal, maxAttempts: 1 }).catch(() => undefined);
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends all calls with the signal, which share one listener, because Node warns of a leak at the eleventh', async () => {
    const controller = new AbortController();
    const { sdk } = scriptedSdk(Array.from({ length: 11 }, () => silent));
    const { signal } = controller;
    const calls = Array.from({ length: 11 }, () => failureOf(sdk.listPets({ signal })));
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    controller.abort(reason);
    expect(await Promise.all(calls)).toEqual(Array(11).fill(reason));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends a wait immediately', async () => {
    const controller = new AbortController();
    const fetch = () => {
      setImmediate(() => controller.abort(reason));
      return Promise.resolve(limited(60));
    };
    const sdk = createPetStoreClient({ baseUrl: 'http://store.test', apiKey: KEY, fetch });
    expect(await failureOf(sdk.listPets({ signal: controller.signal }))).toBe(reason);
  });
});

it('The key is sent in X-API-Key and nowhere else, without white space around it, and not to where a redirect leads', async () => {
  const { sdk, sent } = scriptedSdk([failure(404, 'pet_not_found')], { apiKey: ` ${KEY}\r\n` });
  const error = await failureOf(sdk.getPet({ path: { petId: 1 } }));
  expect(sent[0]).toMatchObject({ url: 'http://store.test/pets/1', redirect: 'manual' });
  expect(sent[0]!.headers.get('x-api-key')).toBe(KEY);
  expect(error).toBeInstanceOf(PetStoreError);
  expect(error).toMatchObject({ code: 'pet_not_found', message: 'It is pet_not_found.', status: 404 });
  expect(inspect([sdk, error], { depth: 9, showHidden: true })).not.toContain('psk_live');
});

describe('A mistake of set-up', () => {
  it.each([
    ['apiKey must be printable ASCII without spaces.', { apiKey: 'psk_live_a\nb' }],
    ['apiKey is missing. Check that the variable with the API key is set.', { apiKey: ' ' }],
    ['apiKey is missing. Check that the variable with the API key is set.', { apiKey: undefined }],
    [expect.stringMatching(/^baseUrl must be/) as string, { baseUrl: undefined }],
    [expect.stringMatching(/^baseUrl must be/) as string, { baseUrl: 'store.test' }],
    [expect.stringMatching(/^baseUrl must be/) as string, { baseUrl: 'http://me:psk_live_b@store.test' }],
  ])('is a TypeError that quotes nothing: %s', (message, options) => {
    const make = () => scriptedSdk([], options as { apiKey: string });
    expect(make).toThrow(expect.objectContaining({ name: 'TypeError', message }) as Error);
    expect(make).not.toThrow(/psk_live/);
  });

  it.each<[string, keyof PetStoreClient, object | undefined]>([
    ['getPet: path.petId is missing.', 'getPet', undefined],
    ['retryDelivery: path.deliveryId is missing.', 'retryDelivery', { path: { webhookId: 1 } }],
    ['createPet: body is missing.', 'createPet', {}],
    ['updatePet: body is missing.', 'updatePet', { path: { petId: 1 }, body: null }],
  ])('in a call is a TypeError, and nothing is sent: %s', async (message, name, input) => {
    const { sdk, sent } = scriptedSdk([CREATED]);
    const call = sdk[name] as unknown as (input: unknown) => Promise<unknown>;
    expect(await failureOf(call(input))).toMatchObject({ name: 'TypeError', message });
    expect(sent).toEqual([]);
  });

  it('in a request is no lost connection: a header that cannot be sent', async () => {
    const { sdk, sent } = scriptedSdk([CREATED]);
    const header = { 'Idempotency-Key': 'Zoë 🐕' };
    expect(await failureOf(sdk.createPet({ body, header }))).toMatchObject({ name: 'TypeError' });
    expect(sent).toEqual([]);
  });
});

describe('After a 429', () => {
  const overTheDay = (seconds: number) =>
    failure(429, 'daily_quota_exceeded', { 'Retry-After': String(seconds) });

  it('a call that cannot wait that long fails with the refusal, without being sent', async () => {
    const { sdk, sent, pass } = scriptedSdk([overTheDay(40_000)]);
    await failureOf(sdk.listPets());
    pass(10_000);
    expect(await failureOf(sdk.createCategory({ body: { name: 'Dogs' } }))).toMatchObject({
      code: 'daily_quota_exceeded',
      status: 429,
      operation: 'POST /categories',
      retryAfterSeconds: 39_990,
      idempotencyKey: expect.any(String) as string,
    });
    expect(sent.length).toBe(1);
  });

  it('one is sent a minute later, because the plan may be another', async () => {
    const { sdk, sent, pass } = scriptedSdk([overTheDay(40_000), overTheDay(39_940), NO_PETS]);
    await failureOf(sdk.listPets());
    await failureOf(sdk.listPets());
    expect(sent.length).toBe(1);
    pass(60_000);
    await failureOf(sdk.listPets());
    await failureOf(sdk.listPets());
    expect(sent.length).toBe(2);
    pass(60_000);
    expect((await sdk.listPets()).data).toEqual([]);
  });

  it('GET /rate-limit is still sent', async () => {
    const { sdk, sent } = scriptedSdk([overTheDay(40_000), json({ plan: 'free' })]);
    await failureOf(sdk.listPets());
    expect((await sdk.getRateLimit()).data.plan).toBe('free');
    expect(sent.length).toBe(2);
  });
});

it('Calls that a 429 holds back wait for their turn and spend no attempts: 75 at once all succeed in the second window, after one note for each hold', async () => {
  // The present minute is used up, and ends after 44 seconds. Each later one allows 60 requests.
  let [now, end, left] = [0, 44_000, 0];
  const answer = () => {
    if (now >= end) [end, left] = [now + 60_000, 60];
    left -= 1;
    return left >= 0 ? (NO_PETS.clone() as Response) : limited(Math.ceil((end - now) / 1_000));
  };
  const waiting: { until: number; wake: () => void }[] = [];
  const sleep = (milliseconds: number) =>
    new Promise<void>((wake) => waiting.push({ until: now + milliseconds, wake }));
  const onRetry = jest.fn();
  const { sdk, sent } = scriptedSdk([answer], { onRetry, now: () => now, sleep, maxAttempts: 3 });

  let isDone = false;
  const calls = Promise.all(Array.from({ length: 75 }, () => sdk.listPets())).finally(() => (isDone = true));
  // If nothing else happens, the time moves on to the end of the next wait.
  for (let idle = 0; !isDone; idle += 1) {
    await new Promise(setImmediate);
    if (idle > 50 && waiting.length > 0) {
      waiting.sort((one, other) => one.until - other.until);
      now = Math.max(now, waiting[0]!.until);
      const over = waiting.filter(({ until: time }) => time <= now);
      waiting.splice(0, over.length).forEach(({ wake }) => wake());
      idle = 0;
    }
  }
  await calls;
  expect([onRetry.mock.calls.length, sent.length, now / 1_000]).toEqual([2, 95, 104]);
});

describe('Requests under way', () => {
  it('do not wait for followers, however many there are', async () => {
    const { sdk, sent } = scriptedSdk([
      (request) => (request.url.includes('/events') ? silent(request) : (NO_PETS.clone() as Response)),
    ]);
    const controller = new AbortController();
    const followers = Array.from({ length: 20 }, () =>
      failureOf(sdk.followEvents({ signal: controller.signal }).next()),
    );
    await until(() => sent.length === 20);
    expect((await sdk.listPets()).data).toEqual([]);
    controller.abort();
    await Promise.all(followers);
  });

  const pending = () => {
    const answers: (() => void)[] = [];
    const reply = () =>
      new Promise<Response>((resolve) => answers.push(() => resolve(NO_PETS.clone() as Response)));
    return { ...scriptedSdk([reply]), answers };
  };

  it('are at most ten, in order', async () => {
    const { sdk, sent, answers } = pending();
    const limits = Array.from({ length: 25 }, (_none, index) => index + 1);
    const calls = limits.map((limit) => sdk.listPets({ query: { limit } }));
    let most = 0;
    for (let answered = 0; answered < 25; answered += 1) {
      await until(() => answers.length > answered);
      most = Math.max(most, sent.length - answered);
      answers[answered]!();
    }
    await Promise.all(calls);
    expect(most).toBe(10);
    expect(sent.map(({ url }) => Number(new URL(url).searchParams.get('limit')))).toEqual(limits);
  });

  it('are replaced by others when one is aborted while it waits', async () => {
    const controller = new AbortController();
    const { sdk, sent, answers } = pending();
    const calls = Array.from({ length: 10 }, () => sdk.listPets());
    const aborted = failureOf(sdk.listPets({ signal: controller.signal }));
    calls.push(sdk.listCategories() as never);
    await until(() => answers.length === 10);
    controller.abort(new Error('enough'));
    expect(await aborted).toEqual(new Error('enough'));
    answers[0]!();
    await until(() => answers.length === 11);
    expect(new URL(sent.at(-1)!.url).pathname).toBe('/categories');
    answers.forEach((answer) => answer());
    await Promise.all(calls);
  });
});

it.each([
  ['the same cursor', () => 'a'],
  ['other words for it', (count: number) => `a${count}`],
  ['no cursor', () => undefined],
])('A follower that gets empty pages at once asks once a second: %s', async (_name, cursorOf) => {
  let count = 0;
  const controller = new AbortController();
  const { sdk, waits } = scriptedSdk([
    () => {
      count += 1;
      const cursor = cursorOf(count);
      if (count > 5) controller.abort(new Error('enough'));
      return json([], cursor === undefined ? {} : { Link: `</events?cursor=${cursor}>; rel="next"` });
    },
  ]);
  const pages = sdk.followEvents({ signal: controller.signal });
  const reading = async () => {
    for await (const _page of pages);
  };
  expect(await failureOf(reading())).toEqual(new Error('enough'));
  expect(waits).toEqual(Array(5).fill(1_000));
});

describe('A follower from now on', () => {
  const pageTo = (cursor: string, events: object[] = []) =>
    json(events, { Link: `</events?cursor=${cursor}>; rel="next"` });
  const urlOf = (cursor: string, wait: number) =>
    `http://store.test/events?limit=100&cursor=${cursor}&type=pet.created&wait=${wait}`;
  const query = { cursor: 'now', type: ['pet.created' as const] };

  it('does not wait for the first event, so that it has a cursor when an abort ends its wait', async () => {
    const controller = new AbortController();
    const { sdk, sent } = scriptedSdk([pageTo('a'), silent]);
    const pages = sdk.followEvents({ query, signal: controller.signal });
    expect((await pages.next()).value).toMatchObject({ data: [], next: 'a' });
    const ended = failureOf(pages.next());
    await until(() => sent.length === 2);
    controller.abort(new Error('enough'));
    expect(await ended).toEqual(new Error('enough'));
    expect(sent.map(({ url }) => url)).toEqual([urlOf('now', 0), urlOf('a', 25)]);
  });

  it('continues by itself after lost connections and pages of a proxy, with the same cursor', async () => {
    const ofProxy = [
      new Response('<html>'),
      new Response(''),
      new Response(null, { status: 204 }),
      json(null),
      json({}),
    ];
    const replies = [pageTo('a'), LOST, ...ofProxy, pageTo('b', [{}, {}]), pageTo('c', [{}])];
    const { sdk, sent } = scriptedSdk(replies, { maxAttempts: 1 });
    const pages = sdk.followEvents({ query });
    const seen: (number | undefined)[] = [];
    for (let page = 0; page < 3; page += 1) seen.push((await pages.next()).value?.data.length);
    expect(seen).toEqual([0, 2, 1]);
    const waiting = [...Array<string>(7).fill('a'), 'b'].map((cursor) => urlOf(cursor, 25));
    expect(sent.map(({ url }) => url)).toEqual([urlOf('now', 0), ...waiting]);
  });

  it('ends with an error that does not pass', async () => {
    const { sdk, sent } = scriptedSdk([failure(400, 'invalid_cursor')]);
    expect(await failureOf(sdk.followEvents({ query }).next())).toMatchObject({ code: 'invalid_cursor' });
    expect(sent.length).toBe(1);
  });
});

describe('The pages of a list', () => {
  const page = (ids: number[], link?: string) =>
    json(
      ids.map((id) => ({ ...PET, id })),
      link === undefined ? {} : { Link: link },
    );
  const FIRST = page([1, 2], '<https://elsewhere.test/pets?limit=2&cursor=a%2Bb>; rel="next"');

  it('are requested from the same host, with the given filters, whatever the link says', async () => {
    const { sdk, sent } = scriptedSdk([FIRST, page([3])], { baseUrl: 'https://store.test/v1/' });
    const ids: number[] = [];
    for await (const { id } of all(sdk.listPets, { query: { status: ['available', 'sold'] } })) {
      ids.push(id);
    }
    expect(ids).toEqual([1, 2, 3]);
    expect(sent.map(({ url }) => url)).toEqual([
      'https://store.test/v1/pets?limit=100&status=available&status=sold',
      'https://store.test/v1/pets?limit=100&status=available&status=sold&cursor=a%2Bb',
    ]);
  });

  it.each([
    ['</docs>; rel="deprecation"; type="text/html", </pets?cursor=a>; rel="next"', 'a'],
    ['</pets?cursor=a>; rel="prev"', undefined],
    ['</pets>; rel="next"', undefined],
  ])('go on by the cursor in the link: %s', async (link, cursor) => {
    const { sdk } = scriptedSdk([page([1], link)]);
    expect(await sdk.listPets()).toMatchObject({ data: [{ id: 1 }], next: cursor });
  });

  it('end with the page of events that links to itself', async () => {
    const { sdk, sent } = scriptedSdk([json([{ id: 'evt_1' }], { Link: '</events?cursor=a>; rel="next"' })]);
    const ids: string[] = [];
    for await (const { id } of all(sdk.listEvents)) ids.push(id);
    expect([ids, sent.length]).toEqual([['evt_1', 'evt_1'], 2]);
  });

  it('are not those of the whole list when a filter is an empty array', async () => {
    const { sdk, sent } = scriptedSdk([page([])]);
    await sdk.listPets({ query: { id: [] } });
    expect(sent[0]!.url).toMatch(/\/pets\?id=$/);
  });
});
