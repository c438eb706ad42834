import type { FastifyReply, FastifyRequest } from 'fastify';
import { deprecationHeadersOf } from '#libs/http';
import type { RequestLimiter } from '../modules/quotas';

export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
  };
}

/**
 * Adds the headers for rate limits and deprecation. Call this function only with the final status of the response,
 * because a response with the status 304 or 5xx does not count against the rate limit.
 */
export async function writeHeaders(
  limiter: RequestLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<void> {
  // Requests for pages and health checks are not counted, so there are no rate limits to report. A malformed request is
  // an exception, because the path of such a request may be unreadable.
  if (request.client === undefined && !request.isMalformed && request.isOutsideApi) {
    return;
  }
  const limits = await limiter.settle(request, status);
  void reply.headers(limits).headers(deprecationHeadersOf(request));
}
