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
import { RequestLimiter } from './request-limiter';

/** The name that the module gives to a throttler without one, and that @SkipThrottle skips by itself. */
const THROTTLER = 'default';

/**
 * Second guard: counts the request against its client's plan, or its address, and refuses what is over the limit.
 * A ThrottlerGuard as far as its place in Nest and @SkipThrottle go. Its counting is replaced: it takes the windows
 * one after another, so that a request refused by the day has used up a minute, its header fields mean other things,
 * and it looks a dozen settings up for each request.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  private readonly skipped = new Map<unknown, boolean>();
  /** Configurations of the routes that have been counted. */
  private readonly counted = new WeakSet<object>();

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

  /** True for a request to an operation that is known to be counted; the first one to each is not known yet. */
  counts(request: FastifyRequest): boolean {
    return this.counted.has(routeOf(request).config);
  }

  private admits(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.isSkipped(context)) {
      return true;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    this.counted.add(routeOf(request).config);
    const refusal = this.limiter.take(request);
    return refusal instanceof Promise ? refusal.then(admit) : admit(refusal);
  }

  private isSkipped(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    let skipped = this.skipped.get(handler);
    if (skipped === undefined) {
      const targets = [handler, context.getClass()];
      skipped = this.reflector.getAllAndOverride<boolean>(THROTTLER_SKIP + THROTTLER, targets) ?? false;
      this.skipped.set(handler, skipped);
    }
    return skipped;
  }
}

function admit(refusal: ApiError | null): true {
  if (refusal) {
    throw refusal;
  }
  return true;
}
