import type { IncomingMessage } from 'node:http';
import { applyDecorators, RequestMethod } from '@nestjs/common';
import {
  type ApiError,
  defineError,
  Documented,
  EachOperation,
  AddRouteConfig,
  routeConfigOf,
  headerValuesOf,
  trimmed,
} from '#libs/http';
import { KEY_SHAPE } from './api-key';
import type { Scope } from './api-key.entity';

const ConflictingCredentialsError = defineError({
  code: 'conflicting_credentials',
  status: 400,
  commonTo: 'all operations',
  when: 'The request carries different API keys.',
  message: 'The request carries different keys. Send one key, as X-API-Key or Authorization: Bearer.',
});

const MissingApiKeyError = defineError({
  code: 'missing_api_key',
  status: 401,
  commonTo: 'all operations',
  when: 'The request has no API key.',
  message: 'Send your API key as X-API-Key: <key> or Authorization: Bearer <key>.',
  headers: () => ({ 'WWW-Authenticate': 'Bearer realm="petstore"' }),
});

const InvalidApiKeyError = defineError({
  code: 'invalid_api_key',
  status: 401,
  commonTo: 'all operations',
  when: 'The API key is mistyped, unknown, expired or revoked.',
  message: 'The API key is not valid: it is mistyped, unknown, expired or revoked.',
  headers: () => ({ 'WWW-Authenticate': 'Bearer realm="petstore", error="invalid_token"' }),
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

export const MISSING_KEY = new MissingApiKeyError();
export const INVALID_KEY = new InvalidApiKeyError();

const SCHEME_AND_VALUE = /^(?:(\S+) )?(.*)$/;

/**
 * Returns the bearer tokens in an Authorization header. There may be several, because proxies may join repeated headers
 * with commas.
 */
function bearersIn(field: string): string[] {
  let scheme = '';
  return field.split(',').map((part) => {
    const [, name = scheme, value = ''] = SCHEME_AND_VALUE.exec(trimmed(part))!;
    scheme = name.toLowerCase();
    return scheme === 'bearer' ? value : '';
  });
}

/**
 * Returns the API key of a request, from X-API-Key or from Authorization with the scheme Bearer. Returns an error if there is no
 * key, a malformed key, or two different keys.
 */
export function presentedKey(request: Pick<IncomingMessage, 'rawHeaders'>): string | ApiError {
  const fields = headerValuesOf(request, 'x-api-key');
  const schemes = headerValuesOf(request, 'authorization');
  if (fields.length === 1 && schemes.length === 0 && KEY_SHAPE.test(fields[0]!)) {
    return fields[0]!;
  }
  const sent = [...fields.flatMap((value) => value.split(',')), ...schemes.flatMap(bearersIn)];
  const keys = new Set(sent.map(trimmed));
  keys.delete('');
  const [key, ...others] = keys;
  if (key === undefined) {
    return MISSING_KEY;
  }
  if (others.length > 0) {
    return new ConflictingCredentialsError();
  }
  return KEY_SHAPE.test(key) ? key : INVALID_KEY;
}

export type AccessRule = Scope | 'any key' | 'public';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: AccessRule;
  }
}

export const API_KEY_SCHEME = 'apiKey';
export const BEARER_SCHEME = 'bearer';

/**
 * Class decorator: GET and HEAD require a key with the scope `read`, other methods the scope `write`. An operation can declare
 * another rule with `@Access`.
 */
export function ScopeByMethod(): ClassDecorator {
  return EachOperation((method, handler) => {
    const scope = method === RequestMethod.GET || method === RequestMethod.HEAD ? 'read' : 'write';
    return routeConfigOf(handler)?.access
      ? undefined
      : applyDecorators(AddRouteConfig({ access: scope }), Documented({ errors: [InsufficientScopeError] }));
  });
}

/**
 * Declares who may call an operation. `any key` means that a valid key with any scope is needed; `public` means that no
 * key is needed.
 */
export function Access(access: 'any key' | 'public'): MethodDecorator {
  return AddRouteConfig({ access });
}
