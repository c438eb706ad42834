import { type ApiError, defineError } from '#libs/http';
import { nextBanMs, type QuotaStatus } from './rules/decision';

/** Warns a key before a ban. */
function warning(refusalsLeft: number, banMs: number): string {
  const requests = refusalsLeft === 1 ? '1 more refused request' : `${refusalsLeft} more refused requests`;
  // Those of the first two seconds were on their way.
  return ` ${requests}, 2 to 60 seconds after the first one, will ban the key for ${banMs / 1000} seconds.`;
}

const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) });

const RateLimitExceededError = defineError({
  code: 'rate_limit_exceeded',
  status: 429,
  everywhere: 'operations',
  when: 'The limit of requests per minute is reached. Wait for `Retry-After` seconds.',
  message: (seconds: number, warning: string) =>
    `The limit of requests per minute is reached. Try again in ${seconds} seconds.${warning}`,
  headers: retryAfter,
  example: [42, warning(31, 120_000)],
});

export const DailyQuotaExceededError = defineError({
  code: 'daily_quota_exceeded',
  status: 429,
  everywhere: 'operations',
  when: 'The limit of requests per day is reached. Wait for `Retry-After` seconds, until midnight UTC.',
  message: (seconds: number, warning: string) =>
    `The limit of requests per day is reached. Try again in ${seconds} seconds.${warning}`,
  headers: retryAfter,
  example: [40_211, warning(31, 120_000)],
});

export const ApiKeyBannedError = defineError({
  code: 'api_key_banned',
  status: 403,
  everywhere: 'operations',
  when: 'The API key is banned; the message says why. Wait for `Retry-After` seconds.',
  message: (seconds: number, byOperator: boolean) => {
    const cause = byOperator
      ? 'An operator of this service has banned the API key.'
      : 'The API key is banned because it kept sending requests after a 429.';
    return `${cause} Try again in ${seconds} seconds.`;
  },
  headers: retryAfter,
  example: [120, false],
});

/** The error for a request that is not allowed. */
export function limitErrorOf({ outcome, exhausted, ban, ...decision }: QuotaStatus): ApiError {
  const { windows, acceptedAt, decidedAt, refusalsBeforeBan } = decision;
  const end = acceptedAt ?? windows.find(({ name }) => name === exhausted)!.resetAt;
  // Rounded up, so that waiting this long is always enough.
  const seconds = Math.max(1, Math.ceil((end - decidedAt) / 1000));
  if (outcome === 'banned') {
    return new ApiKeyBannedError(seconds, ban!.byOperator);
  }
  const LimitError = exhausted === 'day' ? DailyQuotaExceededError : RateLimitExceededError;
  // Addresses are never banned.
  return new LimitError(seconds, ban === null ? '' : warning(refusalsBeforeBan, nextBanMs(ban, decidedAt)));
}
