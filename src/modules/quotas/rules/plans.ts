// The plans, and what each of them allows.
import type { Limits } from './rate-window';

/** The limits of each plan; null if they are agreed with each client. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof PLAN_LIMITS;
export const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

/** For lookups by any name. Shared objects, so that requests allocate nothing. */
const LIMITS: ReadonlyMap<string, Limits | null> = new Map(Object.entries(PLAN_LIMITS));

/** Limits of an address without a valid key; there is no daily limit. */
export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

/** Plans whose limits are agreed with each client. */
export const AGREED_PLANS = PLANS.filter((plan) => PLAN_LIMITS[plan] === null);

/** A plan, with its limits if they are agreed with the client. */
export interface AgreedPlan {
  plan: string;
  perMinute: number | null;
  perDay: number | null;
}

/** The plan and the limits do not fit. The message is for the operator. */
export class InvalidPlanError extends Error {}

/** @throws InvalidPlanError for an unknown plan, a missing limit, or limits for a plan with fixed ones */
export function agreedPlan(plan: string, perMinute?: number, perDay?: number): AgreedPlan {
  const fixed = LIMITS.get(plan);
  if (fixed === undefined) {
    throw new InvalidPlanError(`There is no plan ${plan}. Plans are ${PLANS.join(', ')}.`);
  }
  if (fixed === null) {
    if (perMinute === undefined || perDay === undefined) {
      throw new InvalidPlanError(`The plan ${plan} needs both --per-minute and --per-day.`);
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new InvalidPlanError(
      `The plan ${plan} has fixed limits; only ${AGREED_PLANS.join(' and ')} takes --per-minute and --per-day.`,
    );
  }
  return { plan, perMinute: null, perDay: null };
}

/** The limits in force for a client. */
export function limitsOf({ plan, perMinute, perDay }: AgreedPlan): Limits {
  const fixed = LIMITS.get(plan);
  if (fixed) {
    return fixed;
  }
  if (perMinute === null || perDay === null) {
    throw new Error(`The plan ${plan} of a client has no limits.`);
  }
  return { perMinute, perDay };
}

/**
 * What each instance may allow while the instances cannot share their counts: an equal share of the minute, and of what was
 * left of the day when this instance started to count locally; at least one request. The day's earlier usage is part of the
 * limit, because it is part of the count.
 */
export function shareOf(limits: Limits, instances: number, usedOfDay: number): Limits {
  if (instances === 1) {
    return limits;
  }
  const { perMinute, perDay } = limits;
  return {
    perMinute: part(perMinute, instances),
    perDay: perDay === null || perDay <= usedOfDay ? perDay : usedOfDay + part(perDay - usedOfDay, instances),
  };
}

function part(limit: number, instances: number): number {
  return Math.max(1, Math.floor(limit / instances));
}
