import { type ApiError, defineError } from '#libs/http';
import { nextBanMs } from './rules/bans';
import type { Decision } from './rules/decision';

function warning(refusalsLeft: number, banMs: number): string {
  const requests = refusalsLeft === 1 ? '1 more refused request' : `${refusalsLeft} more refused requests`;
  return ` ${requests}, 2 to 60 seconds after the first one, will ban the key for ${banMs / 1000} seconds.`;
}

/** Added to the message of a 429 while Redis is unavailable. */
const COUNTED_ALONE = ' For the moment, each instance of the service counts alone and allows its share.';

const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) });

const limitError = (code: string, window: 'minute' | 'day', hint: string, seconds: number) =>
  defineError({
    code,
    status: 429,
    commonTo: 'all operations',
    when: `The limit of requests per ${window} is reached. Wait for \`Retry-After\` seconds${hint}.`,
    message: (seconds: number, remark: string) =>
      `The limit of requests per ${window} is reached. Try again in ${seconds} seconds.${remark}`,
    headers: retryAfter,
    example: [seconds, warning(31, 120_000)],
  });

const RateLimitExceededError = limitError('rate_limit_exceeded', 'minute', '', 42);
export const DailyQuotaExceededError = limitError(
  'daily_quota_exceeded',
  'day',
  ', until midnight UTC',
  40_211,
);

export const ApiKeyBannedError = defineError({
  code: 'api_key_banned',
  status: 403,
  commonTo: 'all operations',
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

export function limitErrorOf({ outcome, exhausted, ban, ...decision }: Decision): ApiError {
  const { statuses, acceptedAt, decidedAt, refusalsBeforeBan, isCountedAlone } = decision;
  const end = acceptedAt ?? statuses.find(({ name }) => name === exhausted)!.resetAt;
  const seconds = Math.max(1, Math.ceil((end - decidedAt) / 1000));
  if (outcome === 'banned') {
    return new ApiKeyBannedError(seconds, ban!.byOperator);
  }
  const LimitError = exhausted === 'day' ? DailyQuotaExceededError : RateLimitExceededError;
  if (isCountedAlone) {
    return new LimitError(seconds, COUNTED_ALONE);
  }
  return new LimitError(seconds, ban === null ? '' : warning(refusalsBeforeBan, nextBanMs(ban, decidedAt)));
}
