// What each instance may allow while the instances cannot share their counts.
import type { Limits } from './rate-window';

/**
 * An equal share of the minute, and of what was left of the day when this instance started to count alone; at least one
 * request. The day's earlier usage is part of the limit, because it is part of the count.
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
