import { applyDecorators } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { WithRouteConfig, routeOf } from '#libs/http';
import { documentNever } from '#libs/openapi';
import { ApiKeyBannedError, DailyQuotaExceededError } from './quotas.errors';

/** Whether requests to a route are counted. Every route is, unless it says something else. */
export type CountingRule = 'always' | 'without a valid key' | 'never';

interface CountingConfig {
  counted?: CountingRule;
}

/** The configuration of a route that is never counted, for routes without a controller. */
export const NEVER_COUNTED: Required<CountingConfig> = { counted: 'never' };

/**
 * Says when requests to the operation are counted. `without a valid key`: a valid key uses no quota, and is answered
 * whatever its limits and bans are; for everybody else the request counts, or each forged key would be a free look-up
 * in the database.
 */
export function Counted(rule: Exclude<CountingRule, 'always'>): MethodDecorator {
  return applyDecorators(
    WithRouteConfig({ counted: rule } satisfies CountingConfig),
    // An address has neither a day nor bans.
    documentNever(ApiKeyBannedError, DailyQuotaExceededError),
  );
}

/** The rule of the route that a request was routed to; unknown paths are always counted. */
export function countingRuleOf(request: FastifyRequest): CountingRule {
  return (routeOf(request).config as CountingConfig).counted ?? 'always';
}
