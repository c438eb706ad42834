import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { FastifyRequest } from 'fastify';
import { Precondition, hasPrecondition } from './conditions';
import { ValidationFailedError } from './errors';
import { isRead } from './representation';
import { quoted } from './validation';

/** Refuses a query, a body or a condition that the operation does not take, because nothing else would look at it. */
@Injectable()
export class InputGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    assertDecodable(request.url);
    const [name] = Object.keys(request.query as object);
    if (name !== undefined && !hasParameter(context, RouteParamtypes.QUERY)) {
      throw new ValidationFailedError(`The operation has no query parameter ${quoted(name)}.`);
    }
    if (!isRead(request) && !hasPrecondition(context.getHandler())) {
      conditionsOf(request).assertHolds(null);
    }
    if (request.body !== undefined && !hasParameter(context, RouteParamtypes.BODY)) {
      throw new ValidationFailedError('The operation takes no body. Send the request without one.');
    }
    return true;
  }
}

/** A path that nobody can GET has no representation, and so nothing that `If-None-Match` could match. */
function conditionsOf({ headers, server, routeOptions }: FastifyRequest): Precondition {
  const isReadable = headers['if-none-match'] && server.hasRoute({ method: 'GET', url: routeOptions.url! });
  return new Precondition(isReadable ? headers : { 'if-match': headers['if-match'] });
}

/** Whether the operation has parameters of this kind. */
function hasParameter(context: ExecutionContext, kind: RouteParamtypes): boolean {
  const { name } = context.getHandler();
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), name) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${kind}:`));
}

/** Query parsers take an invalid escape literally, so the search would use a value that the caller did not mean. */
function assertDecodable(target: string): void {
  const query = target.slice(target.indexOf('?') + 1);
  if (query.length < target.length && query.includes('%')) {
    try {
      decodeURIComponent(query);
    } catch {
      throw new ValidationFailedError('The query has an invalid percent escape.');
    }
  }
}
