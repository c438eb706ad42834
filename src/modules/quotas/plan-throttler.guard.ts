import { type ExecutionContext, Injectable, applyDecorators } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerModuleOptions, type ThrottlerRequest } from '@nestjs/throttler';
import { THROTTLER_SKIP } from '@nestjs/throttler/dist/throttler.constants';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { Documented, WithRouteConfig, routeOf } from '#libs/http';
import { ApiKeyBannedError, DailyQuotaExceededError } from './quotas.errors';
import type { Verdict } from './request-limiter';
import { DAY_MS, type Limits, MINUTE_MS } from './rules/rate-window';

/** The two windows, with the limits of the caller's plan. */
export const THROTTLERS: ThrottlerModuleOptions = {
  throttlers: [
    { name: 'minute', ttl: MINUTE_MS, limit: (context) => limitsOf(context).perMinute },
    {
      name: 'day',
      ttl: DAY_MS,
      limit: (context) => limitsOf(context).perDay!,
      // Addresses have no daily limit.
      skipIf: (context) => limitsOf(context).perDay === null,
    },
  ],
};

const YES = Promise.resolve(true);
const NO = Promise.resolve(false);

/**
 * First guard: rejects requests over the limit of their client or address. `RequestLimiter` counted them when they arrived,
 * in both windows at once. The package's own storage would take one window after the other, so that a request refused by
 * the day would use up the minute, and its headers have other meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  /** Nothing is left to decide unless the request is refused: 0.3 µs instead of 3 for both windows. */
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return verdictOf(context)?.refusal ? NO : YES;
  }

  /** Refuses in the exhausted window; a ban refuses in the first one. */
  protected override async handleRequest({ context, throttler }: ThrottlerRequest): Promise<boolean> {
    const { exhausted } = verdictOf(context)!.decision;
    if (exhausted === null || exhausted === throttler.name) {
      await this.throwThrottlingException(context);
    }
    return true;
  }

  protected override throwThrottlingException(context: ExecutionContext): Promise<void> {
    throw verdictOf(context)!.refusal!;
  }
}

function verdictOf(context: ExecutionContext): Verdict | undefined {
  return context.switchToHttp().getRequest<FastifyRequest>().verdict;
}

function limitsOf(context: ExecutionContext): Limits {
  return verdictOf(context)!.subject.limits;
}

/** When requests to a route are counted. Default: always, as unknown paths are. */
type CountingRule = 'always' | 'without a valid key' | 'never';

interface CountingConfig {
  counted?: CountingRule;
}

/**
 * Requests with a valid key use no quota and ignore limits and bans. Others count, because each forged key costs a database
 * lookup.
 */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    WithRouteConfig({ counted: 'without a valid key' } satisfies CountingConfig),
    // Addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/**
 * Notes on a route whether `@SkipThrottle` marks its handler, because requests are counted before Nest reads marks. Nest
 * wraps the handlers of paths with parameters; these are always counted.
 */
export function noteSkipped(route: RouteOptions): void {
  if (Reflect.getMetadata(`${THROTTLER_SKIP}minute`, route.handler) === true) {
    route.config = { ...route.config, counted: 'never' } as CountingConfig;
  }
}

export function countingRuleOf(request: FastifyRequest): CountingRule {
  return (routeOf(request).config as CountingConfig).counted ?? 'always';
}
