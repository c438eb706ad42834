// The limiter's decision for metrics, derived after the response, off the hot path.
import type { FastifyRequest } from 'fastify';
import { BAN_DURATIONS_MS } from './rules/ban-rules';

/** `minute` and `day` are the windows whose limit refused the request. */
export const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'] as const;
export type LimiterDecision = (typeof LIMITER_DECISIONS)[number];

export const BAN_LEVELS = BAN_DURATIONS_MS.map((_duration, index) => index + 1);

/** The limiter's decision; null if the request was not counted. */
export function limiterDecisionOf({ verdict }: FastifyRequest): LimiterDecision | null {
  if (verdict === undefined) {
    return null;
  }
  return verdict.exhausted ?? (verdict.outcome === 'banned' ? 'banned' : 'allowed');
}

/** The level of the ban that this request triggered; 0 for none. */
export function earnedBanLevel({ verdict }: FastifyRequest): number {
  return verdict?.earnedBanLevel ?? 0;
}
