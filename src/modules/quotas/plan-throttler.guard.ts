import { applyDecorators, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { AddRouteConfig, type ApiError, defineError, Documented } from '#libs/http';
import { Access } from '../auth';
import { RequestLimiter } from './request-limiter';
import { nextBanMs } from './rules/bans';
import type { QuotaStatus } from './rules/decision';

function warning(refusalsLeft: number, banMs: number): string {
  const requests = refusalsLeft === 1 ? '1 more refused request' : `${refusalsLeft} more refused requests`;
  return ` ${requests}, 2 to 60 seconds after the first one, will ban the key for ${banMs / 1000} seconds.`;
}

/** Added to the message of a 429 while Redis is unavailable. */
const OF_SHARE = ' For the moment, each instance of the service counts alone and allows its share.';

const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) });

const limitError = (code: string, window: 'minute' | 'day', hint: string, seconds: number) =>
  defineError({
    code,
    status: 429,
    everywhere: 'operations',
    when: `The limit of requests per ${window} is reached. Wait for \`Retry-After\` seconds${hint}.`,
    message: (seconds: number, remark: string) =>
      `The limit of requests per ${window} is reached. Try again in ${seconds} seconds.${remark}`,
    headers: retryAfter,
    example: [seconds, warning(31, 120_000)],
  });

const RateLimitExceededError = limitError('rate_limit_exceeded', 'minute', '', 42);
const DailyQuotaExceededError = limitError('daily_quota_exceeded', 'day', ', until midnight UTC', 40_211);

const ApiKeyBannedError = defineError({
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

function limitErrorOf({ outcome, exhausted, ban, ...decision }: QuotaStatus): ApiError {
  const { windows, acceptedAt, decidedAt, refusalsBeforeBan, isLocal } = decision;
  const end = acceptedAt ?? windows.find(({ name }) => name === exhausted)!.resetAt;
  const seconds = Math.max(1, Math.ceil((end - decidedAt) / 1000));
  if (outcome === 'banned') {
    return new ApiKeyBannedError(seconds, ban!.byOperator);
  }
  const LimitError = exhausted === 'day' ? DailyQuotaExceededError : RateLimitExceededError;
  if (isLocal) {
    return new LimitError(seconds, OF_SHARE);
  }
  return new LimitError(seconds, ban === null ? '' : warning(refusalsBeforeBan, nextBanMs(ban, decidedAt)));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isCountedOnlyWithoutKey?: boolean;
  }
}

/** Decorates an operation that a client with a valid key may call at any time, even over a limit or during a ban. */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    Access('any key'),
    AddRouteConfig({ isCountedOnlyWithoutKey: true }),
    // Leave these two errors out of the documentation of the decorated operation, which never returns these errors. The
    // operation accepts every request with a valid key. Requests without a valid key count towards the limit of the IP
    // address, and addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/**
 * Identifies the client of a request, and counts the request unless the operation counts only requests without a valid
 * key (`CountedOnlyWithoutKey`) and this request has one.
 * @throws ApiError 429 or 403 if a limit or a ban refuses the request
 */
export async function countWithinLimits(request: FastifyRequest, limiter: RequestLimiter): Promise<void> {
  const client = await limiter.identify(request);
  if (client.key !== null && request.routeOptions.config.isCountedOnlyWithoutKey) {
    return;
  }
  const decision = await limiter.admit(client);
  if (decision.outcome !== 'allowed') {
    throw limitErrorOf(decision);
  }
}

@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  @Inject() private readonly limiter!: RequestLimiter;

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    await countWithinLimits(request, this.limiter);
    return true;
  }
}
