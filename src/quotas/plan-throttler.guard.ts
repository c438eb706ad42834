import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  ThrottlerStorage,
  getOptionsToken,
} from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { RequestLimiter } from './request-limiter';

/**
 * Second guard: counts the request against its client's plan, or its address, and refuses what is over the limit.
 * A ThrottlerGuard as far as its place in Nest and @SkipThrottle go. Its counting is replaced: it takes the windows
 * one after another, so that a request refused by the day has used up a minute, and its header fields mean other things.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(ThrottlerStorage) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RequestLimiter,
  ) {
    super(options, storage, reflector);
  }

  /** Called once for each request that no @SkipThrottle exempts. */
  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const refusal = await this.limiter.take(context.switchToHttp().getRequest<FastifyRequest>());
    if (refusal) {
      throw refusal;
    }
    return true;
  }
}
