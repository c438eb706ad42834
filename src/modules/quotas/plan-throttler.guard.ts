import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerModuleOptions, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { Verdict } from './request-limiter';
import { DAY_MS, type Limits, MINUTE_MS } from './rules/limits';

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
