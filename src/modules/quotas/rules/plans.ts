// The plans, and what each of them allows.
import type { Limits } from './rate-window';

/** What each plan allows; null where both limits are agreed on with each client. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof PLAN_LIMITS;
export const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

/** For look-ups by a name that may be no plan. One object for each fixed plan, so that nothing is allocated for a request. */
const LIMITS: ReadonlyMap<string, Limits | null> = new Map(Object.entries(PLAN_LIMITS));

/** Requests a minute for an address that shows no valid key; it has no day's limit. */
export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

/** Plans whose limits are agreed on with each client. */
const AGREED = PLANS.filter((plan) => PLAN_LIMITS[plan] === null);

/** A plan together with the limits agreed on, if it is one that needs them. */
export interface AgreedPlan {
  plan: string;
  perMinute: number | null;
  perDay: number | null;
}

/** The choice does not make a plan; the message says why, for whoever chose. */
export class InvalidPlanError extends Error {}

/** @throws InvalidPlanError for an unknown plan, one without fixed limits that lacks a limit, or one with fixed limits and another. */
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
      `The plan ${plan} has fixed limits; only ${AGREED.join(' and ')} takes --per-minute and --per-day.`,
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
