// What each plan allows. Enterprise limits are set for each client by agreement, both of them.
import type { Limits } from './rate-window';

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** Requests a minute for an address that shows no valid key; it has no day's limit. */
export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

/** Largest limit that can be agreed on: what a column holds. */
export const MAX_LIMIT = 2_147_483_647;

const FIXED: Readonly<Record<Exclude<Plan, 'enterprise'>, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** A plan together with the limits agreed on, if it is one that needs them. */
export interface AgreedPlan {
  plan: string;
  perMinute: number | null;
  perDay: number | null;
}

/** The choice does not make a plan; the message says why, for whoever chose. */
export class InvalidPlanError extends Error {}

export function isPlan(name: string): name is Plan {
  return PLANS.some((plan) => plan === name);
}

/** @throws InvalidPlanError for an unknown plan, an enterprise plan without both limits, or another plan with one. */
export function agreedPlan(plan: string, perMinute?: number, perDay?: number): AgreedPlan {
  if (!isPlan(plan)) {
    throw new InvalidPlanError(`There is no plan ${plan}. Plans are ${PLANS.join(', ')}.`);
  }
  if (plan === 'enterprise') {
    if (perMinute === undefined || perDay === undefined) {
      throw new InvalidPlanError('The plan enterprise needs both --per-minute and --per-day.');
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new InvalidPlanError(
      `The plan ${plan} has fixed limits; only enterprise takes --per-minute and --per-day.`,
    );
  }
  return { plan, perMinute: null, perDay: null };
}

/** The limits in force for a client. One object for each fixed plan, so that nothing is allocated for a request. */
export function limitsOf({ plan, perMinute, perDay }: AgreedPlan): Limits {
  if (plan === 'free' || plan === 'pro' || plan === 'business') {
    return FIXED[plan];
  }
  if (perMinute === null || perDay === null) {
    throw new Error(`The plan ${plan} of a client has no limits.`);
  }
  return { perMinute, perDay };
}
