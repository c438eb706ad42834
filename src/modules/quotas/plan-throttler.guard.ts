import { applyDecorators, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { AddRouteConfig, Documented } from '#libs/http';
import { Access } from '../auth';
import { ApiKeyBannedError, DailyQuotaExceededError } from './limit-errors';
import { RequestLimiter } from './request-limiter';

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
    Documented({ excludedErrors: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  @Inject() private readonly limiter!: RequestLimiter;

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    await this.limiter.admit(context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}
