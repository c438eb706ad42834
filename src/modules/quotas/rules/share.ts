// The rule of shares: what one of several instances may let through by itself while they cannot count together.
import type { Limits } from './rate-window';

/**
 * An equal part of the minute, and of what was left of the day when this instance began to count alone; one request
 * at least. What all have used of the day before stands in its limit, because it stands in its count.
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
