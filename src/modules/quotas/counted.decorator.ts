import { applyDecorators } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { WithRouteConfig, routeOf, documentNever } from '#libs/http';
import { ApiKeyBannedError, DailyQuotaExceededError } from './quotas.errors';

/** When requests to a route are counted. Default: always. */
export type CountingRule = 'always' | 'without a valid key' | 'never';

interface CountingConfig {
  counted?: CountingRule;
}

/** Route configuration for routes without a controller. */
export const NEVER_COUNTED: Required<CountingConfig> = { counted: 'never' };

/**
 * When requests to the operation are counted. `without a valid key`: requests with a valid key use no quota and ignore
 * limits and bans. Others count, because each forged key costs a database lookup.
 */
export function Counted(rule: Exclude<CountingRule, 'always'>): MethodDecorator {
  return applyDecorators(
    WithRouteConfig({ counted: rule } satisfies CountingConfig),
    // Addresses have no daily limit and no bans.
    documentNever(ApiKeyBannedError, DailyQuotaExceededError),
  );
}

/** The rule of the request's route; unknown paths are always counted. */
export function countingRuleOf(request: FastifyRequest): CountingRule {
  return (routeOf(request).config as CountingConfig).counted ?? 'always';
}
