import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { deprecationHeadersOf } from './deprecated.decorator';

/** Announces the end of a deprecated operation on its successful answers; the exception filter does it on failed ones. */
@Injectable()
export class DeprecationInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    void http.getResponse<FastifyReply>().headers(deprecationHeadersOf(http.getRequest<FastifyRequest>()));
    return next.handle();
  }
}
