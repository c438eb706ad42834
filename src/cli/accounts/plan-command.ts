import { Option } from 'nest-commander';
import { type ChangeOptions, ChangingCommand } from '../command/command';
import { wholeNumber } from '../command/parse';
import { UsageError } from '../command/command-failure';
import { AGREED_PLANS, PLANS } from '../../modules/quotas/rules/plans';

const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const LIMITS = { min: 1, max: 2_147_483_647 };
export const PLAN = PLANS.join(', ').replace(/, (\w+)$/, ' or $1');

export interface PlanOptions extends ChangeOptions {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

/** Validates the plan options. */
export async function chosenPlan({ plan, perMinute, perDay }: PlanOptions) {
  const { InvalidPlanError, agreedPlan } = await import('../../modules/quotas/administration.js');
  try {
    return agreedPlan(plan, perMinute, perDay);
  } catch (error) {
    throw error instanceof InvalidPlanError ? new UsageError(error.message) : error;
  }
}

/** A command that puts a client on a plan. */
export abstract class PlanCommand extends ChangingCommand {
  @Option({ flags: '--per-minute <requests>', description: `requests per minute; ${AGREED_ONLY}` })
  parsePerMinute(text: string): number {
    return wholeNumber('--per-minute', text, LIMITS);
  }

  @Option({ flags: '--per-day <requests>', description: `requests per day; ${AGREED_ONLY}` })
  parsePerDay(text: string): number {
    return wholeNumber('--per-day', text, LIMITS);
  }
}
