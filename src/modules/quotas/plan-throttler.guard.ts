import { applyDecorators, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Documented, AddRouteConfig } from '#libs/http';
import { RequiresKey } from '../auth';
import { ApiKeyBannedError, DailyQuotaExceededError, limitErrorOf } from './rate-limit-errors';
import { RequestLimiter } from './request-limiter';

declare module 'fastify' {
  interface FastifyContextConfig {
    isCountedOnlyWithoutKey?: boolean;
  }
}

/**
 * The operation needs a valid key, whatever its scopes. Requests with one use no quota and ignore limits and bans. Others
 * count, because each forged key costs a database lookup.
 */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    RequiresKey(),
    AddRouteConfig({ isCountedOnlyWithoutKey: true }),
    // Addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/**
 * First guard: identifies the client, counts the request, and refuses it over the limit or with a banned key. The package's
 * own storage would take one window after the other, so that a request refused by the day would use up the minute, and its
 * headers have other meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  @Inject() private readonly limiter!: RequestLimiter;

  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    return (
      request.routeOptions.config.isCountedOnlyWithoutKey === true &&
      (await this.limiter.identify(request)).key !== null
    );
  }

  /** Identifies the client. @returns whose requests count together */
  protected override async getTracker(request: FastifyRequest): Promise<string> {
    return (await this.limiter.identify(request)).tracker;
  }

  /** Takes the request from both windows of the tracker, in one step. */
  protected override async handleRequest({ context, getTracker }: ThrottlerRequest): Promise<boolean> {
    const request = requestOf(context);
    const tracker = await getTracker(request, context);
    const client = Object.assign(request.client!, { tracker });
    const { outcome } = await this.limiter.admit(client);
    if (outcome !== 'allowed') {
      await this.throwThrottlingException(context);
    }
    return true;
  }

  protected override throwThrottlingException(context: ExecutionContext): Promise<void> {
    throw limitErrorOf(requestOf(context).client!.admission!.decision);
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
