import { ManualClock } from '#libs/clock';
import { RefusalCache } from '../../../src/modules/quotas/stores/refusal-cache';
import type { Subject, Taken } from '../../../src/modules/quotas/stores/quota-store';

const limits = { perMinute: 60, perDay: 1_000 };
const keyOf = (keyId: number): Subject => ({ kind: 'client', clientId: 1, keyId, limits });
const addressOf = (address: string): Subject => ({ kind: 'address', address, limits });
const KEY = keyOf(7);
const ADDRESS = addressOf('192.0.2.7');

/** On another clock than ours, as Redis decides. */
const DECIDED_AT = 1_800_000_000_000;

function aDecision(fields: Partial<Taken>): Taken {
  return {
    outcome: 'banned',
    standings: [],
    exhausted: null,
    retryAfterSeconds: 120,
    refusalsBeforeBan: 0,
    nextBanSeconds: 600,
    bannedByOperator: false,
    earnedBanLevel: 1,
    takenAt: -1,
    decidedAt: DECIDED_AT,
    ...fields,
  };
}

const BAN = aDecision({});
const LIMITED = aDecision({ outcome: 'limited', exhausted: 'minute', retryAfterSeconds: 30 });
const ALLOWED = aDecision({ outcome: 'allowed', retryAfterSeconds: 0 });

let clock: ManualClock;
let known: RefusalCache;
beforeEach(() => {
  clock = new ManualClock();
  known = new RefusalCache(clock);
});

/** What is answered, and whether the counter was asked: it decides so. */
async function take(subject: Subject, decision: Taken): Promise<[Taken, isAsked: boolean]> {
  const asked = jest.fn().mockResolvedValue(decision);
  return [await known.takeUnlessKnown(subject, asked), asked.mock.calls.length > 0];
}

it('a ban is served from the cache for less than a second, with the current wait, and not as a new one', async () => {
  expect(await take(KEY, BAN)).toEqual([BAN, true]);
  expect(await take(KEY, ALLOWED)).toEqual([{ ...BAN, earnedBanLevel: 0 }, false]);
  clock.advance(899);
  expect(await take(KEY, ALLOWED)).toEqual([
    { ...BAN, earnedBanLevel: 0, decidedAt: DECIDED_AT + 899 },
    false,
  ]);
  clock.advance(1);
  expect(await take(KEY, ALLOWED)).toEqual([ALLOWED, true]);
  clock.advance(-1);
  expect(await take(KEY, ALLOWED)).toEqual([ALLOWED, true]);
});

it.each([
  ['an address over its limit', ADDRESS, LIMITED, true],
  ['a key over its limit, whose every refusal is a strike', KEY, LIMITED, false],
  ['a key that was let in', KEY, ALLOWED, false],
  ['an address that was let in', ADDRESS, ALLOWED, false],
  ['a ban in its last second', KEY, aDecision({ retryAfterSeconds: 1 }), false],
  ['a ban in the second before', KEY, aDecision({ retryAfterSeconds: 2 }), true],
  ['a refusal of this instance alone', ADDRESS, { ...LIMITED, takenLocally: true }, false],
])('only refusals that nothing can change are cached: %s', async (_, subject, decision, isRepeated) => {
  await take(subject, decision);
  clock.advance(1);
  const [, isAsked] = await take(subject, ALLOWED);
  expect(isAsked).toBe(!isRepeated);
});

it('a clock that was set back repeats no refusal', async () => {
  await take(KEY, BAN);
  clock.advance(-1);
  expect(await take(KEY, ALLOWED)).toEqual([ALLOWED, true]);
});

it('no subject gets the refusal of another, and evicted refusals are not repeated', async () => {
  await take(KEY, BAN);
  await take(ADDRESS, LIMITED);
  for (const other of [keyOf(8), addressOf('192.0.2.8'), addressOf('7')]) {
    expect(await take(other, ALLOWED)).toEqual([ALLOWED, true]);
  }
  known.clear();
  for (const subject of [KEY, ADDRESS]) {
    expect(await take(subject, ALLOWED)).toEqual([ALLOWED, true]);
  }
});
