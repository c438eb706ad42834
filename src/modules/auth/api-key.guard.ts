import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  RequestMethod,
  SetMetadata,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type ApiError, defineError, Documented, EachOperation, errorWith } from '#libs/http';
import type { Caller, Scope } from './api-key';

export const ConflictingCredentialsError = defineError({
  code: 'conflicting_credentials',
  status: 400,
  when: '`X-API-Key` and `Authorization` carry different keys.',
  message: () => 'X-API-Key and Authorization carry different keys. Send the key in one of them.',
  example: [],
});

export const MissingApiKeyError = defineError({
  code: 'missing_api_key',
  status: 401,
  when: 'The request has no API key.',
  message: () => 'Send your API key as X-API-Key: <key> or Authorization: Bearer <key>.',
  headers: () => ({ 'WWW-Authenticate': 'Bearer realm="petstore"' }),
  example: [],
});

export const InvalidApiKeyError = defineError({
  code: 'invalid_api_key',
  status: 401,
  when: 'The API key is mistyped, unknown, expired or revoked.',
  message: () => 'The API key is not valid: it is mistyped, unknown, expired or revoked.',
  headers: () => ({ 'WWW-Authenticate': 'Bearer realm="petstore", error="invalid_token"' }),
  example: [],
});

export const InsufficientScopeError = defineError({
  code: 'insufficient_scope',
  status: 403,
  when: 'The API key lacks the scope: `read` for GET and HEAD, `write` for other methods.',
  message: (scope: string) => `This operation needs an API key with the scope ${scope}.`,
  headers: (scope: string) => ({
    'WWW-Authenticate': `Bearer realm="petstore", error="insufficient_scope", scope="${scope}"`,
  }),
  example: ['write'],
});

/**
 * Rejects requests without a valid key, or without the scope that the operation needs. A test checks that every handler
 * declares a rule.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const declared = Reflect.getMetadata(ACCESS_RULE, context.getHandler()) as AccessRule | undefined;
    const rule = declared ?? 'write';
    if (rule === 'public') {
      return true;
    }
    const refusal = refusalOf(context.switchToHttp().getRequest<FastifyRequest>().caller, rule);
    if (refusal !== null) {
      throw refusal;
    }
    return true;
  }
}

/** Why this caller may not call an operation with this rule; null if it may. */
export function refusalOf(caller: Caller | undefined, rule: Scope | 'any key'): ApiError | null {
  if (!caller?.holder) {
    return caller?.refusal ?? new MissingApiKeyError();
  }
  return rule === 'any key' || caller.holder.scopes.includes(rule) ? null : new InsufficientScopeError(rule);
}

export const ACCESS_RULE = 'auth:access-rule';
export type AccessRule = Scope | 'any key' | 'public';

/** Names of the security schemes in the OpenAPI document; callers use either one. */
export const API_KEY_SCHEME = 'apiKey';
export const BEARER_SCHEME = 'bearer';

/** Each operation of the controller needs a valid key with the scope of its method, unless it declares another rule. */
export function ScopeByMethod(): ClassDecorator {
  return EachOperation((method, handler) => {
    const scope = method === RequestMethod.GET || method === RequestMethod.HEAD ? 'read' : 'write';
    const refusal = errorWith(InsufficientScopeError, scope, scope);
    return Reflect.hasMetadata(ACCESS_RULE, handler)
      ? undefined
      : applyDecorators(openTo(scope), Documented({ errors: [refusal] }));
  });
}

/** The operation needs a valid key, whatever its scopes. */
export function RequiresKey(): MethodDecorator {
  return openTo('any key');
}

/** The OpenAPI document names the ways to send a key once, because every operation of the API takes them. */
function openTo(rule: AccessRule): MethodDecorator {
  return applyDecorators(
    SetMetadata(ACCESS_RULE, rule),
    Documented({ errors: [ConflictingCredentialsError, MissingApiKeyError, InvalidApiKeyError] }),
  );
}

/** The route needs no key; it is not part of the API. */
export function Public(): MethodDecorator {
  return SetMetadata(ACCESS_RULE, 'public' satisfies AccessRule);
}

/** The client whose key a request carries. Only operations that need a key have one. */
export function clientIdOf({ caller }: FastifyRequest): number {
  if (!caller?.holder) {
    throw new Error('The request has no valid key, so it has no client.');
  }
  return caller.holder.clientId;
}

/** Parameter decorator: the id of the client that sent the request. */
export const ClientId = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  clientIdOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
