import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, from, map, mergeMap, of } from 'rxjs';
import { RequestLimiter } from './request-limiter';

/** Outermost interceptor: writes the rate limit header fields when the status is known. The exception filter does it for failures. */
@Injectable()
export class RateLimitHeadersInterceptor implements NestInterceptor {
  constructor(private readonly limiter: RequestLimiter) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      mergeMap((body: unknown) => {
        const headers = this.limiter.headersFor(request, reply.statusCode);
        const write = (fields: Record<string, string>) => {
          void reply.headers(fields);
          return body;
        };
        return headers instanceof Promise ? from(headers).pipe(map(write)) : of(write(headers));
      }),
    );
  }
}
