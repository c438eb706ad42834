import type { Answer, ApiClient, ErrorBody } from '../../support/api-client';
import { spread, tally } from '../../support/spread';
import { COUNTED, MINUTE, limitsIn, standing } from '../../support/limits';
import { Fleet } from './support/fleet';
import { until } from '../../support/eventually';

const DAY_SECONDS = 86_400;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start();
});
afterAll(() => fleet?.close());

/** An answer, and between what times it was made. */
interface Timed {
  answer: Answer<ErrorBody>;
  sentAt: number;
  receivedAt: number;
}

async function timed(caller: ApiClient): Promise<Timed> {
  const sentAt = Date.now();
  const answer = await caller.get<ErrorBody>(COUNTED);
  return { answer, sentAt, receivedAt: Date.now() };
}

const statusesOf = (all: Timed[]) => tally(all.map(({ answer }) => answer.status));
const withStatus = (all: Timed[], status: number) => all.filter(({ answer }) => answer.status === status);

/** What Remaining was told to those let in, from the largest on, whichever instance told it. */
const remainingOf = (all: Timed[]) =>
  withStatus(all, 200)
    .map(({ answer }) => limitsIn(answer).remaining)
    .sort((a, b) => b - a);

const countDown = (from: number) => Array.from({ length: from }, (_none, index) => from - 1 - index);

/** @param end when the window ends, in unix milliseconds */
function expectTrueRefusals(refusals: Timed[], limit: number, end: number): void {
  for (const { answer, sentAt, receivedAt } of refusals) {
    const reset = Math.ceil(end / 1_000);
    expect(limitsIn(answer)).toMatchObject({ limit, remaining: 0, reset });
    const { retryAfter } = limitsIn(answer);
    expect(retryAfter).toBeGreaterThanOrEqual(Math.ceil((end - receivedAt) / 1_000));
    expect(retryAfter).toBeLessThanOrEqual(Math.ceil((end - sentAt) / 1_000));
  }
}

test('three instances allow 60 requests of a burst, count each once, and refuse the rest correctly', async () => {
  const { key } = await fleet.issueKey({ plan: 'free' });
  const callers = fleet.callers(key);
  const before = Date.now();
  const answers = await spread(callers, 150, timed);
  const after = Date.now();

  // The 11th refusal is the ban.
  expect(statusesOf(answers)).toEqual({ 200: 60, 429: 10, 403: 80 });
  expect(remainingOf(answers)).toEqual(countDown(60));
  const end = Date.parse((await standing(callers[0]!)).minute.resetAt);
  expect(end).toBeGreaterThanOrEqual(before + MINUTE);
  expect(end).toBeLessThanOrEqual(after + MINUTE);
  expectTrueRefusals(withStatus(answers, 429), 60, end);
});

test('they allow exactly the daily limit of a plan', async () => {
  const { key } = await fleet.issueKey({ perMinute: 1_000, perDay: 40 });
  const answers = await spread(fleet.callers(key), 50, timed);
  expect(statusesOf(answers)).toEqual({ 200: 40, 429: 10 });
  expect(remainingOf(answers)).toEqual(countDown(40));
  const refusals = withStatus(answers, 429);
  expect(new Set(refusals.map(({ answer }) => answer.body.code))).toEqual(new Set(['daily_quota_exceeded']));
  const midnight = Math.ceil(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS * 1_000;
  expectTrueRefusals(refusals, 40, midnight);
});

describe('refused requests, wherever they are sent,', () => {
  /** A client that has used its minute, with a caller for each instance. */
  async function anExhaustedClient() {
    const { key, keyId, client } = await fleet.issueKey({ perMinute: 3, perDay: 1_000 });
    const callers = fleet.callers(key);
    expect(await inTurn(callers, 3)).toEqual([200, 200, 200]);
    return { callers, keyId, client };
  }

  /** The status of each request, or how long a ban lasts. */
  async function inTurn(callers: ApiClient[], count: number): Promise<(number | string)[]> {
    const outcomes: (number | string)[] = [];
    for (let index = 0; index < count; index += 1) {
      const answer = await callers[index % callers.length]!.get<ErrorBody>(COUNTED);
      const ban = `${answer.body.code} for ${limitsIn(answer).retryAfter} s`;
      outcomes.push(answer.status === 403 ? ban : answer.status);
    }
    return outcomes;
  }

  async function areAnswered(callers: ApiClient[], status: number): Promise<boolean> {
    const answers = await Promise.all(callers.map((caller) => caller.get(COUNTED)));
    return answers.every((answer) => answer.status === status);
  }

  const TEN_REFUSALS = Array<number>(10).fill(429);

  test('ban the key on all instances at the 11th, and lifting the ban lets it in again on all', async () => {
    const { callers, keyId, client } = await anExhaustedClient();
    expect(await inTurn(callers, 11)).toEqual([...TEN_REFUSALS, 'api_key_banned for 120 s']);
    await until(() => areAnswered(callers, 403));

    const limits = ['--per-minute', '1000', '--per-day', '100000'];
    await fleet.command('clients', 'set-plan', client, '--plan', 'enterprise', ...limits);
    expect(await areAnswered(callers, 403)).toBe(true);
    await fleet.command('keys', 'unban', String(keyId));
    await until(() => areAnswered(callers, 200));
  });

  test('ban it for ten minutes after its first ban', async () => {
    const { callers, keyId } = await anExhaustedClient();
    await inTurn(callers, 11);
    await until(async () => {
      const served = 'UPDATE key_bans SET banned_until = now() WHERE key_id = $1';
      return (await fleet.database.pool.query(served, [keyId])).rowCount === 1;
    });
    const lifted = async () => (await inTurn(callers, 3)).every((outcome) => outcome === 429);
    await until(lifted);
    await until(async () => (await inTurn(callers, 1)).includes('api_key_banned for 600 s'));
  });
});

test('no instance ever had to count alone', () => {
  expect(fleet.complaints).toEqual([]);
});
