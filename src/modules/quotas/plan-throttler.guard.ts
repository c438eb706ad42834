import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';

/**
 * First guard: rejects requests over the limit of their client or address. The request was counted when it arrived. It
 * replaces ThrottlerGuard's logic, which takes one window after the other (a request refused by the day would use up
 * the minute) and sends headers with other meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  // Synchronous for speed, although the base class declares a promise.
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { verdict } = context.switchToHttp().getRequest<FastifyRequest>();
    if (verdict?.refusal) {
      throw verdict.refusal;
    }
    return true as unknown as Promise<boolean>;
  }
}
