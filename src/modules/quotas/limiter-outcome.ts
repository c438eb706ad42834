// What became of a request at the limiter, read off the answered request: counting it meanwhile would cost each request.
import type { FastifyRequest } from 'fastify';
import { BAN_DURATIONS_MS } from './rules/ban-rules';
import { type Decision, NOTHING_TAKEN } from './rules/decision';

/** `minute` and `day` are the windows whose limit refused the request. */
export const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'] as const;
export type LimiterDecision = (typeof LIMITER_DECISIONS)[number];

export const BAN_LEVELS = BAN_DURATIONS_MS.map((_duration, index) => index + 1);

/** What the limiter decided; null when it was not asked. */
export function limiterDecisionOf({ verdict }: FastifyRequest, status: number): LimiterDecision | null {
  if (verdict === undefined) {
    return null;
  }
  // What was refunded took nothing in the end either, but is answered 304 or 5xx.
  const banned = status === 403 && verdict.receipt.takenAt === NOTHING_TAKEN;
  return verdict.exhausted ?? (banned ? 'banned' : 'allowed');
}

/** The level of the ban that this very request has earned its key; 0 when it earned none. */
export function earnedBanLevel({ verdict }: FastifyRequest): number {
  // The receipt of a refused request is the decision itself.
  return (verdict?.receipt as Partial<Decision> | undefined)?.earnedBanLevel ?? 0;
}
