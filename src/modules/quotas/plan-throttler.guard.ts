import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';

/**
 * First guard: refuses what is over its client's plan, or over the limit of its address. The request was counted when it
 * arrived. A ThrottlerGuard as far as its place in Nest goes. What that one does is replaced: it takes one window after
 * another, so that a request refused by the day has used up a minute, and its header fields mean other things.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  // Answers at once, which the declaration of its base class does not foresee.
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { verdict } = context.switchToHttp().getRequest<FastifyRequest>();
    if (verdict?.refusal) {
      throw verdict.refusal;
    }
    return true as unknown as Promise<boolean>;
  }
}
