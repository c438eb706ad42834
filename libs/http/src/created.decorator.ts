import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
  applyDecorators,
  mixin,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Observable, tap } from 'rxjs';
import { documentHeaders } from '#libs/openapi';

/** Sets `Location` to the collection's path and the new resource's id (RFC 9110, section 10.2.2). */
function locationInterceptor(collection: string): Type<NestInterceptor> {
  @Injectable()
  class LocationInterceptor implements NestInterceptor<{ id: number }> {
    intercept(context: ExecutionContext, next: CallHandler<{ id: number }>): Observable<{ id: number }> {
      const reply = context.switchToHttp().getResponse<FastifyReply>();
      return next.handle().pipe(tap(({ id }) => void reply.header('Location', `${collection}/${id}`)));
    }
  }
  return mixin(LocationInterceptor);
}

/** The operation creates a resource of this collection. */
export function Created(collection: string): MethodDecorator {
  return applyDecorators(
    UseInterceptors(locationInterceptor(collection)),
    documentHeaders('success', { name: 'Location', example: `${collection}/1` }),
  );
}
