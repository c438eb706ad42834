import { defineError } from '#libs/http';

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
  when: 'The API key does not have the required scope: `read` for GET and HEAD, `write` for all other methods.',
  message: (scope: string) => `This operation needs an API key with the scope ${scope}.`,
  headers: (scope: string) => ({
    'WWW-Authenticate': `Bearer realm="petstore", error="insufficient_scope", scope="${scope}"`,
  }),
  example: ['write'],
});
