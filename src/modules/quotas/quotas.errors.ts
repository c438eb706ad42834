import { defineError } from '#libs/http';
import { type Decision, newBanState, nextBanMs, refusalsBeforeBan } from './rules/decision';

/** Warns a key before a ban. Addresses are never banned. */
function warning({ bans, decidedAt }: Decision): string {
  if (bans === null) {
    return '';
  }
  const left = refusalsBeforeBan(bans, decidedAt);
  const requests = left === 1 ? '1 more refused request' : `${left} more refused requests`;
  return ` ${requests} within 60 seconds of the first one will ban the key for ${nextBanMs(bans, decidedAt) / 1000} seconds.`;
}

const EXAMPLE: Decision = {
  outcome: 'limited',
  standings: [],
  bans: newBanState(),
  acceptedAt: null,
  decidedAt: 0,
  exhausted: 'minute',
  retryAfterSeconds: 42,
  earnedBanLevel: 0,
  takenAt: -1,
};

function retryAfter({ retryAfterSeconds }: Decision): Record<string, string> {
  return { 'Retry-After': String(retryAfterSeconds) };
}

export const RateLimitExceededError = defineError({
  code: 'rate_limit_exceeded',
  status: 429,
  when: 'The limit of requests per minute is reached. Wait for `Retry-After` seconds.',
  message: (decision: Decision) =>
    `The limit of requests per minute is reached. Try again in ${decision.retryAfterSeconds} seconds.${warning(decision)}`,
  headers: retryAfter,
  example: [EXAMPLE],
});

export const DailyQuotaExceededError = defineError({
  code: 'daily_quota_exceeded',
  status: 429,
  when: 'The limit of requests per day is reached. Wait for `Retry-After` seconds, until midnight UTC.',
  message: (decision: Decision) =>
    `The limit of requests per day is reached. Try again in ${decision.retryAfterSeconds} seconds.${warning(decision)}`,
  headers: retryAfter,
  example: [{ ...EXAMPLE, exhausted: 'day', retryAfterSeconds: 40_211 }],
});

export const ApiKeyBannedError = defineError({
  code: 'api_key_banned',
  status: 403,
  when: 'The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds.',
  message: ({ retryAfterSeconds, bans }: Decision) => {
    const cause = bans?.byOperator
      ? 'An operator of this service has banned the API key.'
      : 'The API key is banned because it kept sending requests after a 429.';
    return `${cause} Try again in ${retryAfterSeconds} seconds.`;
  },
  headers: retryAfter,
  example: [{ ...EXAMPLE, outcome: 'banned', retryAfterSeconds: 120 }],
});
