import { applyDecorators } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { documentNever } from '#libs/openapi';
import { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';

/** The operation uses no quota, and is answered whatever the limits and bans of its caller are. */
export function NeverCounted(): MethodDecorator {
  return applyDecorators(
    SkipThrottle(),
    documentNever(ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError),
  );
}
