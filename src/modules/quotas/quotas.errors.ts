import { defineError } from '#libs/http';
import type { Decision } from './rules/decision';

/** Warns a client before a ban. Addresses are never banned. */
function warning({ refusalsBeforeBan, nextBanSeconds }: Decision): string {
  if (nextBanSeconds === 0) {
    return '';
  }
  const requests =
    refusalsBeforeBan === 1 ? '1 more refused request' : `${refusalsBeforeBan} more refused requests`;
  return ` ${requests} within 60 seconds of the first one will ban the key for ${nextBanSeconds} seconds.`;
}

const EXAMPLE: Decision = {
  outcome: 'limited',
  standings: [],
  exhausted: 'minute',
  retryAfterSeconds: 42,
  refusalsBeforeBan: 11,
  nextBanSeconds: 120,
  bannedByOperator: false,
  earnedBanLevel: 0,
  takenAt: -1,
  bans: null,
  acceptedAt: null,
  decidedAt: 0,
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
  message: ({ retryAfterSeconds, bannedByOperator }: Decision) => {
    const cause = bannedByOperator
      ? 'An operator of this service has banned the API key.'
      : 'The API key is banned because it kept sending requests after a 429.';
    return `${cause} Try again in ${retryAfterSeconds} seconds.`;
  },
  headers: retryAfter,
  example: [{ ...EXAMPLE, outcome: 'banned', retryAfterSeconds: 120 }],
});
