import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { FastifyRequest } from 'fastify';
import { ValidationFailedError } from '../errors';
import { printable } from './request-validation.pipe';

/** Refuses query parameters on operations without any: no pipe would validate them. */
@Injectable()
export class UnknownQueryGuard implements CanActivate {
  private readonly takesQuery = new Map<unknown, boolean>();

  canActivate(context: ExecutionContext): boolean {
    const { query, url } = context.switchToHttp().getRequest<FastifyRequest>();
    assertDecodable(url);
    for (const name in query as object) {
      if (!this.operationTakesQuery(context)) {
        throw new ValidationFailedError(`The operation has no query parameter ${printable(name)}.`);
      }
      break;
    }
    return true;
  }

  private operationTakesQuery(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    let takes = this.takesQuery.get(handler);
    if (takes === undefined) {
      const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), handler.name) ??
        {}) as Record<string, unknown>;
      takes = Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
      this.takesQuery.set(handler, takes);
    }
    return takes;
  }
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
