import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { Documented, errorWith } from '#libs/http';
import {
  ConflictingCredentialsError,
  InsufficientScopeError,
  InvalidApiKeyError,
  MissingApiKeyError,
} from './auth.errors';
import type { Scope } from './caller';

export const ACCESS_RULE = 'auth:access-rule';
export type AccessRule = Scope | 'any key' | 'public';

/** Names of the security schemes in the OpenAPI document; callers use either one. */
export const API_KEY_SCHEME = 'apiKey';
export const BEARER_SCHEME = 'bearer';

/** The operation needs a valid key with this scope. */
export function RequiresScope(scope: Scope): MethodDecorator {
  return applyDecorators(openTo(scope), Documented({ errors: [errorWith(InsufficientScopeError, scope)] }));
}

/** The operation needs a valid key, whatever its scopes. */
export function RequiresKey(): MethodDecorator {
  return openTo('any key');
}

function openTo(rule: AccessRule): MethodDecorator {
  return applyDecorators(
    SetMetadata(ACCESS_RULE, rule),
    ApiSecurity(API_KEY_SCHEME),
    ApiSecurity(BEARER_SCHEME),
    Documented({ errors: [ConflictingCredentialsError, MissingApiKeyError, InvalidApiKeyError] }),
  );
}

/** The route needs no key; it is not part of the API. */
export function Public(): MethodDecorator {
  return SetMetadata(ACCESS_RULE, 'public' satisfies AccessRule);
}
