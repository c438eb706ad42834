import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { InterceptorsConsumer } from '@nestjs/core/interceptors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, from, lastValueFrom, map } from 'rxjs';
import { deprecationHeadersOf, represent } from '#libs/http';
import { RequestLimiter } from '../modules/quotas';

export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
  };
}

/**
 * Adds the rate limit and deprecation header fields of the API to a response. Call this function once the final status is
 * known, because the status decides whether the request is refunded.
 */
export async function writeHeaders(
  limiter: RequestLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<void> {
  // Pages and health checks have no limits, so their responses lack these header fields. Malformed requests always have a
  // client, so the responses to them get the fields even if the path is the path of a page.
  if (request.client === undefined && request.isOutsideApi) {
    return;
  }
  const limits = await limiter.headersFor(request, status);
  void reply.headers(limits).headers(deprecationHeadersOf(request));
}

/**
 * Outermost interceptor: turns the result of an operation into the response. A single interceptor does everything, because
 * each additional interceptor costs as much time as all guards together. `ErrorFilter` does the same for failures.
 */
@Injectable()
export class ResponseInterceptor implements NestInterceptor {
  constructor(private readonly limiter: RequestLimiter) {}

  intercept(context: ExecutionContext, next: CallHandler<never>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      // `map` emits a promise, which Nest awaits. Awaiting the promise within the stream would cost more time.
      map(async (result) => {
        const body = represent(result, request, reply);
        await writeHeaders(this.limiter, request, reply, reply.statusCode);
        return body;
      }),
    );
  }
}

/**
 * Replaces Nest's method that calls interceptors. Nest nests streams for each interceptor, to support handlers that return
 * several values; that took 17% of the processor time of a read by id. The replacement only saves time: nothing depends on
 * it.
 */
export function callInterceptorsDirectly(): void {
  InterceptorsConsumer.prototype.intercept = async function (
    interceptors,
    args,
    instance,
    method,
    next,
    type,
  ) {
    const context = this.createContext(args, instance, method);
    context.setType(type!);
    const handle = (index: number): Observable<unknown> => {
      const interceptor = interceptors[index];
      return interceptor === undefined
        ? from(next())
        : (interceptor.intercept(context, { handle: () => handle(index + 1) }) as Observable<unknown>);
    };
    return lastValueFrom(handle(0));
  };
}
