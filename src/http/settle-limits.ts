import type { FastifyReply, FastifyRequest } from 'fastify';
import { deprecationHeadersOf } from '#libs/http';
import type { RequestLimiter } from '../modules/quotas';
import { isPreflight } from './cors';
import { withoutDigest } from './document/served-content';

/**
 * Returns whose rate limits the response to a request reports. Only requests with the limits of a client are counted.
 * The first row that fits the request applies:
 *
 * | Request                                                       | Rate limits       | Counted |
 * | ------------------------------------------------------------- | ----------------- | ------- |
 * | refused by `assertReadable`, whatever the path                | of the IP address | no      |
 * | for a page, a document or a health check, whatever the method | none              | no      |
 * | CORS preflight                                                | of the IP address | no      |
 * | any other                                                     | of the client     | yes     |
 *
 * A request without a valid key has an anonymous client, with the limits of the IP address. `PlanThrottlerGuard`
 * identifies the client and counts the request, or `ErrorFilter` does so if the request fails before the guards. The
 * last row has two exceptions. `GET /rate-limit` with a valid key is not counted. A request that fails with a 5xx before
 * the guards is not counted, and its response reports the limits of the IP address.
 */
export function whoseLimits(request: FastifyRequest): 'client' | 'address' | 'none' {
  // Look at the client first, because `routeOptions` creates an object, which would slow down every request.
  if (request.client !== undefined) {
    return 'client';
  }
  if (request.isMalformed) {
    return 'address';
  }
  if (request.server.publicPaths.has(pathOf(request))) {
    return 'none';
  }
  return isPreflight(request) ? 'address' : 'client';
}

/** Returns the path of the route, or of the request if no route matches its path and method. */
function pathOf({ is404, url, routeOptions }: FastifyRequest): string {
  return is404 ? withoutDigest(decodeURIComponent(url.split(/[?#]/, 1)[0]!)) : routeOptions.url!;
}

/**
 * Ends the counting of a request, and adds the headers for rate limits and deprecation. Call this function only with
 * the final status of the response, because a request is refunded if the status is 304 or 5xx.
 */
export async function settleLimits(
  limiter: RequestLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<void> {
  if (whoseLimits(request) === 'none') {
    return;
  }
  const limits = await limiter.settle(request, status);
  void reply.headers(limits).headers(deprecationHeadersOf(request));
}
