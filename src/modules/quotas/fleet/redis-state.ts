// The layout of a subject's state in Redis: names of keys and fields, and how to parse their values.
import type { Subject } from '../counting/subject';
import type { BanState } from '../rules/ban-rules';
import type { Outcome } from '../rules/decision';
import type { WindowName, WindowState } from '../rules/rate-window';

/** Fields of the hash of windows, short because each request sends them. QUOTA_SCRIPT returns their values in this order. */
export const WINDOW_FIELDS = {
  minuteStart: 's',
  minuteCount: 'm',
  minuteRefunds: 'p',
  day: 'd',
  dayCount: 'n',
  dayRefunds: 'q',
} as const satisfies Record<keyof WindowState, string>;

/** Fields of the hash of a key's bans. QUOTA_SCRIPT returns their values after those of the windows, in this order. */
export const BAN_FIELDS = {
  refusals: 'r',
  refusedSince: 'f',
  refusalsUntil: 'u',
  level: 'l',
  bannedUntil: 'b',
  byOperator: 'o',
} as const satisfies Record<keyof BanState, string>;

/** In both hashes: the state must be reloaded from the database before use. */
export const STALE = 'x';
/** In the hash of windows: the last reset that was applied. */
export const RESET_AT = 'z';

export function keysOf(subject: Subject): string[] {
  return subject.kind === 'client'
    ? keysOfClient(subject.clientId, subject.keyId)
    : [`petstore:{address:${subject.address}}:windows`];
}

/** The braces are a hash tag, so that all keys of a client are on one cluster node. */
export function keysOfClient(clientId: number, keyId: number): [windows: string, bans: string] {
  return [windowsOfClient(clientId), `petstore:{client:${clientId}}:key:${keyId}`];
}

export function windowsOfClient(clientId: number): string {
  return `petstore:{client:${clientId}}:windows`;
}

/** @param values of WINDOW_FIELDS, in their order */
export function windowsFrom(values: readonly number[]): WindowState {
  const [minuteStart = 0, minuteCount = 0, minuteRefunds = 0, day = 0, dayCount = 0, dayRefunds = 0] = values;
  return { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds };
}

/** @param values of BAN_FIELDS, in their order */
export function bansFrom(values: readonly number[]): BanState {
  const [refusals = 0, refusedSince = 0, refusalsUntil = 0, level = 0, bannedUntil = 0, byOperator] = values;
  return { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator: byOperator === 1 };
}

/** What QUOTA_SCRIPT returns for one step. */
export type Reply = [string, string, ...number[]] | ['unknown'] | ['failed', string];

/** The subject's state after a step, and the result of the step. */
export interface StateAfter {
  outcome: Outcome | 'refunded';
  exhausted: WindowName | null;
  newlyBanned: boolean;
  windows: WindowState;
  bans: BanState | null;
  now: number;
}

const WINDOW_VALUES = Object.keys(WINDOW_FIELDS).length;

export function toState(reply: Reply, hasKey: boolean): StateAfter {
  const [outcome, exhausted, newly, now, ...values] = reply as [
    Outcome | 'refunded',
    WindowName | '',
    number,
    number,
    ...number[],
  ];
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    newlyBanned: newly === 1,
    now,
    windows: windowsFrom(values),
    bans: hasKey ? bansFrom(values.slice(WINDOW_VALUES)) : null,
  };
}
