import { applyDecorators, RequestMethod, SetMetadata } from '@nestjs/common';
import { defineError, Documented, EachOperation, errorWith } from '#libs/http';
import type { Scope } from './api-key';

export const ConflictingCredentialsError = defineError({
  code: 'conflicting_credentials',
  status: 400,
  when: 'The request carries different keys, in `X-API-Key`, `Authorization` or both.',
  message: () => 'The request carries different keys. Send one key, as X-API-Key or Authorization: Bearer.',
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
