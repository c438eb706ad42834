import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { ADDRESS_LIMITS, MINUTE_MS } from './rules/limits';

/** What the package needs; the windows of the plans are in `rules/limits.ts`. */
export const THROTTLERS: ThrottlerModuleOptions = [{ ttl: MINUTE_MS, limit: ADDRESS_LIMITS.perMinute }];

const YES = Promise.resolve(true);

/**
 * First guard: rejects requests over the limit of their client or address. `RequestLimiter` counted them when they arrived,
 * in both windows at once. The package's own storage would take one window after the other, so that a request refused by
 * the day would use up the minute, and its headers have other meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { verdict } = context.switchToHttp().getRequest<FastifyRequest>();
    return verdict?.refusal ? Promise.reject(verdict.refusal) : YES;
  }
}
