import { SetMetadata, applyDecorators } from '@nestjs/common';
import { documentNever } from '#libs/openapi';
import { ApiKeyBannedError, DailyQuotaExceededError } from './quotas.errors';

export const FREE_WITH_KEY = 'quotas:free-with-key';

/**
 * With a valid key the operation uses no quota, and is answered whatever the limits and bans of its caller are. For
 * everybody else it counts like any other, or each forged key would be a free look-up in the database.
 */
export function FreeWithKey(): MethodDecorator {
  return applyDecorators(
    SetMetadata(FREE_WITH_KEY, true),
    // An address has neither a day nor bans.
    documentNever(ApiKeyBannedError, DailyQuotaExceededError),
  );
}
