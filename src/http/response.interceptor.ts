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

/** The header fields of every response of the API. Call it when the status is known, which decides on a refund. */
export async function writeHeaders(
  limiter: RequestLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<void> {
  // What must not be interpreted has a client, its address, wherever it was sent.
  if (request.client === undefined && request.isOutsideApi) {
    return;
  }
  const limits = await limiter.headersFor(request, status);
  void reply.headers(limits).headers(deprecationHeadersOf(request));
}

/**
 * Outermost interceptor: turns the result of an operation into the response. It is one for everything, because each interceptor
 * costs as much as all guards together. The exception filter does the same for failures.
 */
@Injectable()
export class ResponseInterceptor implements NestInterceptor {
  constructor(private readonly limiter: RequestLimiter) {}

  intercept(context: ExecutionContext, next: CallHandler<never>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      // Nest awaits a promise from the stream, at less cost than the stream itself would.
      map(async (result) => {
        const body = represent(result, request, reply);
        await writeHeaders(this.limiter, request, reply, reply.statusCode);
        return body;
      }),
    );
  }
}

/**
 * Calls interceptors as they are. Nest puts each into streams of streams, for handlers that return several values: 17% of the
 * processor time of a read by id. It is the only method of other people's code that is replaced; nothing else depends on it.
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
