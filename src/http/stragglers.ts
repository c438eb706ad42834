import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '#libs/errors';
import { routeOf } from '#libs/http';
import { Authenticator } from '../modules/auth';
import { RequestLimiter } from '../modules/quotas';

/** Routes that are never counted, even when they fail. */
const NEVER_COUNTED = new Set(['/docs', '/openapi.json', '/openapi.yaml', '/health/live', '/health/ready']);

/**
 * Requests that fail before any guard has seen them: unknown paths, wrong methods, a content type that is none. They
 * are identified and counted like all others, or an unknown path would be the way around the limits.
 */
@Injectable()
export class Stragglers {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RequestLimiter,
  ) {}

  /** The refusal that takes the place of the request's own error, if its sender is over the limit. */
  async admit(request: FastifyRequest): Promise<ApiError | null> {
    if (request.isJudged || NEVER_COUNTED.has(routeOf(request).url ?? '')) {
      return null;
    }
    await this.authenticator.identify(request);
    return this.limiter.take(request);
  }
}
