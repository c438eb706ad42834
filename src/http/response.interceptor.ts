import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, map } from 'rxjs';
import { UnsentResponses, deprecationHeadersOf, representationOf } from '#libs/http';
import { RequestLimiter } from '../modules/quotas';

/** The header fields of every response: the caller's limits, and the deprecation of the operation. */
@Injectable()
export class ResponseHeaders {
  constructor(private readonly limiter: RequestLimiter) {}

  /** Call it once, when the status is known: the status decides whether the request is refunded. */
  write(request: FastifyRequest, reply: FastifyReply, status: number): void | Promise<void> {
    const deprecation = deprecationHeadersOf(request);
    if (deprecation) {
      void reply.headers(deprecation);
    }
    const limits = this.limiter.headersFor(request, status);
    if (limits instanceof Promise) {
      return limits.then((fields) => void reply.headers(fields));
    }
    void reply.headers(limits);
  }
}

/**
 * Outermost interceptor: turns the result of an operation into the response body (with its ETag or Link), and adds the
 * rate limit and deprecation headers. It is one interceptor for all of these, because each interceptor costs as much as
 * all guards together. The exception filter does the same for failures.
 */
@Injectable()
export class ResponseInterceptor implements NestInterceptor {
  private readonly unsent = new UnsentResponses();

  constructor(private readonly headers: ResponseHeaders) {}

  intercept(context: ExecutionContext, next: CallHandler<never>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const represent = representationOf(context.getHandler());
    return next.handle().pipe(
      map((result) => {
        const body: unknown = represent ? represent(result, request, reply) : result;
        if (typeof body === 'string') {
          this.unsent.hold(request.caller?.holder?.clientId ?? request.ip, reply.raw, body);
        }
        const written = this.headers.write(request, reply, reply.statusCode);
        // Nest awaits a promise from the stream; flattening it in the stream would slow down every other request.
        return written instanceof Promise ? written.then(() => body) : body;
      }),
    );
  }
}
