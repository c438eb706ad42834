import type { Decision } from '../../../src/modules/quotas/rules/decision';
import { RefusalCache } from '../../../src/modules/quotas/stores/refusal-cache';
import type { Subject } from '../../../src/modules/quotas/stores/quota-store';

const limits = { perMinute: 60, perDay: 1_000 };
const keyOf = (keyId: number): Subject => ({ kind: 'client', clientId: 1, keyId, limits });
const addressOf = (address: string): Subject => ({ kind: 'address', address, limits });
const KEY = keyOf(7);
const ADDRESS = addressOf('192.0.2.7');

/** On another clock than ours, as Redis decides. */
const DECIDED_AT = 1_800_000_000_000;

function aDecision(fields: Partial<Decision>): Decision {
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

let known: RefusalCache;
beforeEach(() => (known = new RefusalCache()));

it('a ban is served from the cache for less than a second, with the current wait, and not as a new one', () => {
  known.remember(KEY, BAN, 1_000);
  expect(known.find(KEY, 1_000)).toEqual({ ...BAN, earnedBanLevel: 0 });
  expect(known.find(KEY, 1_899)).toEqual({ ...BAN, earnedBanLevel: 0, decidedAt: DECIDED_AT + 899 });
  expect(known.find(KEY, 1_900)).toBeNull();
  expect(known.find(KEY, 1_899)).toBeNull();
});

it.each([
  ['an address over its limit', ADDRESS, LIMITED, true],
  ['a key over its limit, whose every refusal is a strike', KEY, LIMITED, false],
  ['a key that was let in', KEY, ALLOWED, false],
  ['an address that was let in', ADDRESS, ALLOWED, false],
  ['a ban in its last second', KEY, aDecision({ retryAfterSeconds: 1 }), false],
  ['a ban in the second before', KEY, aDecision({ retryAfterSeconds: 2 }), true],
])('only refusals that nothing can change are cached: %s', (_, subject, decision, isRepeated) => {
  known.remember(subject, decision, 1_000);
  expect(known.find(subject, 1_001) !== null).toBe(isRepeated);
});

it('a clock that was set back repeats no refusal', () => {
  known.remember(KEY, BAN, 1_000);
  expect(known.find(KEY, 999)).toBeNull();
});

it('no subject gets the refusal of another, and evicted refusals are not repeated', () => {
  known.remember(KEY, BAN, 1_000);
  known.remember(ADDRESS, LIMITED, 1_000);
  const others = [keyOf(8), addressOf('192.0.2.8'), addressOf('7')];
  expect(others.map((other) => known.find(other, 1_000))).toEqual([null, null, null]);
  known.clear();
  expect([known.find(KEY, 1_000), known.find(ADDRESS, 1_000)]).toEqual([null, null]);
});
