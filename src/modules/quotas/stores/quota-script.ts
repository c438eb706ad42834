// A subject's state in Redis: its keys, the script that changes it, and how to read what that returns.
import {
  BAN_DURATIONS_MS,
  FORGIVENESS_MS,
  NOTICE_MS,
  type Outcome,
  REFUSALS_BEFORE_BAN,
  SERIES_MS,
  type SubjectState,
} from '../rules/decision';
import { CLOCK_STEP_MS, DAY_MS, MINUTE_MS, type WindowName } from '../rules/limits';
import type { StoredUsage } from './quota-records';
import type { Subject } from './quota-store';

/** The braces are a hash tag, so that all keys of a client are on one cluster node. */
export function keysOf(subject: Subject): string[] {
  return subject.kind === 'address'
    ? [`petstore:{address:${subject.address}}:counts`]
    : [
        `petstore:{client:${subject.clientId}}:counts`,
        `petstore:{client:${subject.clientId}}:ban:${subject.keyId}`,
      ];
}

/**
 * The rules of limits.ts and decision.ts as one atomic step inside Redis, on its clock. A test runs both against the same
 * histories to detect any difference.
 *
 * KEYS: the windows of the client or address; for a client also the bans of the key.
 * ARGV: the step (take, refund or look), requests per minute, requests per day (-1 for none), for take the number of requests,
 * for refund the time when the request was taken; for a client the last reset and the last ban of the database (level, end,
 * by an operator, stamp); and if the client's usage was read from the database: day, requests, start, requests and refunds of
 * the minute, the last reset applied.
 * Returns {outcome (of refund: refunded, if the day's count was lowered), exhausted window or '', newly banned, now, then the
 * windows and the bans}; {'unknown'} if the client's usage must be read from the database first; or {'one by one'} if several
 * requests are not all allowed, and nothing was changed.
 */
export const QUOTA_SCRIPT = `
local MINUTE, DAY, STEP_BACK = ${MINUTE_MS}, ${DAY_MS}, ${CLOCK_STEP_MS}
local NOT_STARTED = -MINUTE
local REFUSALS, SERIES, NOTICE, FORGIVENESS = ${REFUSALS_BEFORE_BAN}, ${SERIES_MS}, ${NOTICE_MS}, ${FORGIVENESS_MS}
local BANS = {${BAN_DURATIONS_MS.join(', ')}}
local floor, max, min = math.floor, math.max, math.min

local is_client = KEYS[2] ~= nil
local step = ARGV[1]
local function argument(index) return tonumber(ARGV[index]) end
local per_minute, per_day, given = argument(2), argument(3), argument(4)

local time = redis.call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)
local today = floor(now / DAY)

local function read(key)
  local packed = redis.call('GET', key)
  if packed then return cmsgpack.unpack(packed) end
end

local start, minute, minute_refunds, day, used, day_refunds, known_reset = read(KEYS[1])
if not start then
  if is_client and not ARGV[10] then return {'unknown'} end
  start, minute, minute_refunds, day, used, day_refunds, known_reset = NOT_STARTED, 0, 0, today, 0, 0, 0
  if is_client then
    day, used, start, minute, minute_refunds, known_reset =
      argument(10), argument(11), argument(12), argument(13), argument(14), argument(15)
  end
end
local level, banned, by_operator, stamp, refusals, since = 0, 0, 0, 0, 0, 0
local bans_before
if is_client then
  local reset = argument(5)
  if reset > known_reset then
    start, minute, minute_refunds, day, used, day_refunds, known_reset = NOT_STARTED, 0, 0, today, 0, 0, reset
  end
  local known = {read(KEYS[2])}
  if known[1] then
    level, banned, by_operator, stamp, refusals, since = unpack(known)
    bans_before = cmsgpack.pack(level, banned, by_operator, stamp, refusals, since)
  end
  if argument(9) > stamp then
    level, banned, by_operator, stamp = argument(6), argument(7), argument(8), argument(9)
  end
end

if now < start then
  start = now
elseif now >= start + MINUTE then
  start, minute, minute_refunds = NOT_STARTED, 0, 0
end
if today > day then
  day, used, day_refunds = today, 0, 0
elseif now < day * DAY - STEP_BACK then
  day = today
end

local outcome, exhausted, newly = 'allowed', '', 0
if step == 'take' and given > 1 then
  local day_fits = per_day < 0 or used + given <= per_day
  if now < banned or minute + given > per_minute or not day_fits then return {'one by one'} end
end
local minute_full, day_full = minute >= per_minute, per_day >= 0 and used >= per_day
if step == 'take' and now < banned then
  outcome = 'banned'
elseif step == 'take' and (minute_full or day_full) then
  outcome, exhausted = 'limited', minute_full and 'minute' or 'day'
  if minute_full and day_full then
    local minute_end = (start == NOT_STARTED and now or start) + MINUTE
    exhausted = minute_end > (day + 1) * DAY and 'minute' or 'day'
  end
  if is_client then
    if now < since or now >= since + SERIES then refusals, since = 0, now end
    if now >= since + NOTICE then refusals = refusals + 1 end
    if refusals >= REFUSALS then
      local current = level
      if level > 0 then current = max(0, level - floor((now - banned) / FORGIVENESS)) end
      level = min(current + 1, #BANS)
      banned, by_operator, refusals, since = now + BANS[level], 0, 0, 0
      outcome, exhausted, newly = 'banned', '', 1
    end
  end
elseif step == 'take' then
  if start == NOT_STARTED then start = now end
  minute = minute + given
  if per_day >= 0 then used = used + given end
elseif step == 'refund' then
  if given >= start and given < start + MINUTE and minute > 0 and minute_refunds < per_minute then
    minute, minute_refunds = minute - 1, minute_refunds + 1
  end
  if floor(given / DAY) == day and used > 0 and day_refunds < per_day then
    used, day_refunds, outcome = used - 1, day_refunds + 1, 'refunded'
  end
end

local windows = cmsgpack.pack(start, minute, minute_refunds, day, used, day_refunds, known_reset)
redis.call('SET', KEYS[1], windows, 'PX', is_client and 2 * DAY or MINUTE)
if is_client then
  -- Most requests do not change the bans.
  local bans = cmsgpack.pack(level, banned, by_operator, stamp, refusals, since)
  if bans ~= bans_before then redis.call('SET', KEYS[2], bans, 'PX', max(2 * DAY, banned - now + DAY)) end
end
return {outcome, exhausted, newly, now, start, minute, minute_refunds, day, used, day_refunds,
  level, banned, by_operator, stamp, refusals, since}
`;

/**
 * The arguments of QUOTA_SCRIPT.
 * @param given to take, the number of requests; to refund, the time when the request was taken
 */
export function argumentsOf(
  subject: Subject,
  step: 'take' | 'refund' | 'look',
  given: number,
  usage?: StoredUsage,
): (string | number)[] {
  const { perMinute, perDay } = subject.limits;
  const values = [step, perMinute, perDay ?? -1, given];
  if (subject.kind === 'client') {
    const { level, bannedUntil, byOperator, changedAt } = subject.ban;
    values.push(subject.resetAt, level, bannedUntil, Number(byOperator), changedAt);
  }
  if (usage !== undefined) {
    const { day, requests, minuteStart, minuteCount, minuteRefunds, resetAt } = usage;
    values.push(day, requests, minuteStart, minuteCount, minuteRefunds, resetAt);
  }
  return values;
}

type Numbers6 = [number, number, number, number, number, number, ...number[]];

/** What QUOTA_SCRIPT returns after a step. */
export type StateReply = [
  outcome: Outcome | 'refunded',
  exhausted: WindowName | '',
  newly: number,
  now: number,
  ...number[],
];
export type Reply = StateReply | ['unknown'] | ['one by one'];

/** The subject's state after a step, and the result of the step. */
export interface StateAfter extends SubjectState {
  outcome: Outcome | 'refunded';
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
}

export function toState(reply: StateReply, { kind, limits }: Subject): StateAfter {
  const [outcome, exhausted, newly, now, ...values] = reply;
  const [minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds, ...bans] = values as Numbers6;
  const [level, bannedUntil, byOperator, changedAt, refusals, refusedSince] = bans as Numbers6;
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    isNewlyBanned: newly === 1,
    now,
    limits,
    windows: { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds },
    bans:
      kind === 'client'
        ? { level, bannedUntil, byOperator: byOperator === 1, changedAt, refusals, refusedSince }
        : null,
  };
}
