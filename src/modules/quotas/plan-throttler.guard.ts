import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '#libs/http';

const YES = Promise.resolve(true);
const NO = Promise.resolve(false);

/**
 * First guard: rejects requests over the limit of their client or address. `RequestLimiter` counted them when they arrived,
 * in both windows at once. The package's own storage would take one window after the other, so that a request refused by
 * the day would use up the minute, and its headers have other meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return refusalOf(context) === null ? YES : NO;
  }

  protected override handleRequest({ context }: { context: ExecutionContext }): Promise<boolean> {
    throw refusalOf(context)!;
  }
}

function refusalOf(context: ExecutionContext): ApiError | null {
  return context.switchToHttp().getRequest<FastifyRequest>().verdict?.refusal ?? null;
}
