import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { InsufficientScopeError, MISSING_KEY } from './access-rules';
import type { ClientKey, Identity } from './api-key';

@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    assertMayCall(request);
    return true;
  }
}

/**
 * Checks that the key of a request may call the route. A request for an unknown path needs no key.
 * @throws ApiError if the key may not call the route
 */
export function assertMayCall({
  client,
  routeOptions,
}: Pick<FastifyRequest, 'routeOptions'> & { client?: Identity }): void {
  // Only a request for an unknown path has no access rule, because the service does not start if a route declares none.
  // Let this request pass, because its response is an error anyway.
  const { access: rule = 'public' } = routeOptions.config;
  if (rule === 'public') {
    return;
  }
  if (!client?.key) {
    throw client?.refusal ?? MISSING_KEY;
  }
  if (rule !== 'any key' && !client.key.scopes.includes(rule)) {
    throw new InsufficientScopeError(rule);
  }
}

/**
 * Returns the key of a request. Call this function only in operations that require a key.
 * @throws Error if the request has no valid key
 */
export function apiKeyOf({ client }: FastifyRequest): ClientKey {
  if (!client?.key) {
    throw new Error('The request has no valid key, so it has no client.');
  }
  return client.key;
}

export const ClientId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    apiKeyOf(context.switchToHttp().getRequest<FastifyRequest>()).clientId,
);
