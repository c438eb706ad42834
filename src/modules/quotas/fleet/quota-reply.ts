import type { BanState } from '../ban-rules';
import type { Outcome } from '../decision';
import type { WindowName, WindowState } from '../rate-window';

/** What QUOTA_SCRIPT returns for one step. */
export type Reply = [string, string, ...number[]] | ['unknown'] | ['failed', string];

/** The subject's state after a step, and what the step came to. */
export interface StateAfter {
  outcome: Outcome | 'refunded';
  exhausted: WindowName | null;
  newlyBanned: boolean;
  windows: WindowState;
  bans: BanState | null;
  now: number;
}

export function toState(reply: Reply, hasKey: boolean): StateAfter {
  const [outcome, exhausted, newly, now, minuteStart, minuteCount, day, dayCount, ...ban] = reply as [
    Outcome | 'refunded',
    WindowName | '',
    number,
    number,
    number,
    number,
    number,
    number,
    ...number[],
  ];
  const [refusals = 0, refusalsUntil = 0, level = 0, bannedUntil = 0] = ban;
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    newlyBanned: newly === 1,
    now,
    windows: { minuteStart, minuteCount, day, dayCount },
    bans: hasKey ? { refusals, refusalsUntil, level, bannedUntil } : null,
  };
}
