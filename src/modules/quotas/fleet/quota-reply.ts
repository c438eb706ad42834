import type { BanState } from '../rules/ban-rules';
import type { Outcome } from '../rules/decision';
import type { WindowName, WindowState } from '../rules/rate-window';

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
  const [outcome, exhausted, newly, now, ...state] = reply as [
    Outcome | 'refunded',
    WindowName | '',
    number,
    number,
    ...number[],
  ];
  const [minuteStart = 0, minuteCount = 0, minuteRefunds = 0, day = 0, dayCount = 0, dayRefunds = 0] = state;
  const [refusals = 0, refusalsUntil = 0, level = 0, bannedUntil = 0] = state.slice(6);
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    newlyBanned: newly === 1,
    now,
    windows: { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds },
    bans: hasKey ? { refusals, refusalsUntil, level, bannedUntil } : null,
  };
}
