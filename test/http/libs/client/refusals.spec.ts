import { failureOf } from './support/on-service';
import { NO_PETS, failure, json, scriptedClient } from '../../../support/scripted';

const limited = (seconds: number) =>
  failure(429, 'daily_quota_exceeded', { 'Retry-After': String(seconds), 'X-Request-Id': 'first' });
const standing = (remaining: number) =>
  json(
    {},
    { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': '1' },
  );

describe('After a 429', () => {
  it('no other call of the client is sent until Retry-After has passed', async () => {
    const { client, sent, waits } = scriptedClient([limited(30), NO_PETS], { maxAttempts: 1 });
    await failureOf(client.pets.list());
    await client.categories.list();
    expect([sent.length, waits]).toEqual([2, [30_000]]);
  });

  it('a call that cannot wait that long fails with the refusal, without being sent', async () => {
    const { client, sent } = scriptedClient([limited(40_000)]);
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
    const { client, sent } = scriptedClient([limited(40_000), standing(0), standing(5), NO_PETS]);
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
      limited(40_000),
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
