import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  ThrottlerStorage,
  getOptionsToken,
} from '@nestjs/throttler';
import { THROTTLER_SKIP } from '@nestjs/throttler/dist/throttler.constants';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '#libs/errors';
import { routeOf } from '#libs/http';
import { FREE_WITH_KEY } from './free-with-key.decorator';
import { RequestLimiter } from './request-limiter';

/** The name that the module gives to a throttler without one, and that @SkipThrottle skips by itself. */
const THROTTLER = 'default';

/** Whether requests to a route are counted. */
type CountingRule = 'always' | 'without a valid key' | 'never';

/**
 * Second guard: counts the request against its client's plan, or its address, and refuses what is over the limit.
 * A ThrottlerGuard as far as its place in Nest and @SkipThrottle go. Its counting is replaced: it takes the windows
 * one after another, so that a request refused by the day has used up a minute, its header fields mean other things,
 * and it looks a dozen settings up for each request.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  /** By the configurations of the routes. */
  private readonly rules = new WeakMap<object, CountingRule>();

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(ThrottlerStorage) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RequestLimiter,
  ) {
    super(options, storage, reflector);
  }

  // Answers at once where it can, which the declaration of its base class does not foresee.
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return this.admits(context) as Promise<boolean>;
  }

  /** True for a request that is known to be counted, as far as its caller is known; the first one to each route is not. */
  counts(request: FastifyRequest): boolean {
    return isCounted(this.rules.get(routeOf(request).config) ?? 'never', request);
  }

  private admits(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!isCounted(this.ruleOf(context, request), request)) {
      this.limiter.admitFree(request);
      return true;
    }
    const refusal = this.limiter.take(request);
    return refusal instanceof Promise ? refusal.then(admit) : admit(refusal);
  }

  private ruleOf(context: ExecutionContext, request: FastifyRequest): CountingRule {
    const { config } = routeOf(request);
    let rule = this.rules.get(config);
    if (rule === undefined) {
      rule = this.declaredRule([context.getHandler(), context.getClass()]);
      this.rules.set(config, rule);
    }
    return rule;
  }

  private declaredRule(targets: Parameters<Reflector['getAllAndOverride']>[1]): CountingRule {
    if (this.reflector.getAllAndOverride<boolean | undefined>(THROTTLER_SKIP + THROTTLER, targets)) {
      return 'never';
    }
    return this.reflector.getAllAndOverride<boolean | undefined>(FREE_WITH_KEY, targets)
      ? 'without a valid key'
      : 'always';
  }
}

function isCounted(rule: CountingRule, { caller }: FastifyRequest): boolean {
  return rule === 'always' || (rule === 'without a valid key' && !caller?.holder);
}

function admit(refusal: ApiError | null): true {
  if (refusal) {
    throw refusal;
  }
  return true;
}
