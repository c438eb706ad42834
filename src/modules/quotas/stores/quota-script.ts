// A client's state in Redis: its keys, the script that changes it, and how to read what that returns.
import {
  ALWAYS_TOLERATED,
  BAN_DURATIONS_MS,
  FORGIVENESS_MS,
  NOTICE_MS,
  type Outcome,
  SERIES_MS,
  type QuotaState,
} from '../rules/decision';
import { CLOCK_STEP_MS, DAY_MS, MINUTE_MS, type WindowName } from '../rules/limits';
import type { StoredUsage } from './quota-records';
import type { LimitedClient } from './quota-store';

/** The braces are a hash tag, so that all keys of a client are on one cluster node. */
export function redisKeysOf({ tracker, key }: LimitedClient): string[] {
  const counts = `petstore:{${tracker}}:counts`;
  return key === null ? [counts] : [counts, `petstore:{${tracker}}:ban:${key.id}`];
}

/**
 * The rules of limits.ts and decision.ts as one atomic step inside Redis. A test runs both against the same histories to detect
 * any difference. Durations are on the clock of Redis, which all instances share. Days and other absolute times are on that of
 * the instance, which is also the clock of what clients are told and of the database: Redis may be ahead of it, or behind.
 *
 * KEYS: the windows of the client or address; for a client also the bans of the key.
 * ARGV: the instance's time, that of Redis (empty for its own clock), the step (take, refund or read), requests per minute,
 * requests per day (-1 for none), for refund the time of Redis when the request was taken; for a client the last reset and the
 * last ban of the database (level, end, by an operator, stamp); and if the client's usage was read from the database: start,
 * requests and refunds of the minute, day, requests and refunds of it, the last reset applied.
 * A read writes only what comes from the database, the end of a window, and the correction of a clock that was set back.
 * Returns {outcome (of refund: refunded, if the day's count was lowered), exhausted window or '', newly banned, now, then the
 * windows and the bans}; or {'unknown'} if the client's usage must be read from the database first.
 */
export const QUOTA_SCRIPT = `
local MINUTE, DAY, STEP_BACK = ${MINUTE_MS}, ${DAY_MS}, ${CLOCK_STEP_MS}
local NOT_STARTED = -MINUTE
local TOLERATED, SERIES, NOTICE, FORGIVENESS = ${ALWAYS_TOLERATED}, ${SERIES_MS}, ${NOTICE_MS}, ${FORGIVENESS_MS}
local BANS = {${BAN_DURATIONS_MS.join(', ')}}
local floor, max, min = math.floor, math.max, math.min

local is_client = KEYS[2] ~= nil
local function argument(index) return tonumber(ARGV[index]) end
local here, now, step, per_minute, per_day, taken_at = argument(1), argument(2), ARGV[3], argument(4), argument(5), argument(6)

if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local ahead = now - here
local today = floor(here / DAY)
local writes = step ~= 'read'

local function read(key)
  local packed = redis.call('GET', key)
  if packed then return cmsgpack.unpack(packed) end
end

local start, minute, minute_refunds, day, used, day_refunds, known_reset = read(KEYS[1])
if not start then
  if is_client and not ARGV[12] then return {'unknown'} end
  start, minute, minute_refunds, day, used, day_refunds, known_reset = NOT_STARTED, 0, 0, today, 0, 0, 0
  if is_client then
    writes = true
    start, minute, minute_refunds, day, used, day_refunds, known_reset =
      argument(12) + ahead, argument(13), argument(14), argument(15), argument(16), argument(17), argument(18)
  end
end
local level, banned, by_operator, stamp, refusals, since, series_end = 0, 0, 0, 0, 0, 0, 0
local function packed_bans() return cmsgpack.pack(level, banned, by_operator, stamp, refusals, since, series_end) end
local bans_before
if is_client then
  local reset = argument(7)
  if reset > known_reset then
    writes = true
    start, minute, minute_refunds, day, used, day_refunds, known_reset = NOT_STARTED, 0, 0, today, 0, 0, reset
  end
  local known = {read(KEYS[2])}
  if known[1] then level, banned, by_operator, stamp, refusals, since, series_end = unpack(known) end
  bans_before = packed_bans()
  if argument(11) > stamp then
    local banned_there = argument(9) + ahead
    -- Its own ban comes back from the database with the delay of two calls, which would make its announced end untrue.
    if argument(10) == 1 or math.abs(banned_there - banned) > 1000 then banned = banned_there end
    level, by_operator, stamp = argument(8), argument(10), argument(11)
  end
end

if now < start then
  start, writes = now, true
elseif start ~= NOT_STARTED and now >= start + MINUTE then
  start, minute, minute_refunds, writes = NOT_STARTED, 0, 0, true
end
if today > day then
  day, used, day_refunds, writes = today, 0, 0, true
elseif here < day * DAY - STEP_BACK then
  day, writes = today, true
end

local outcome, exhausted, newly = 'allowed', '', 0
local minute_full, day_full = minute >= per_minute, per_day >= 0 and used >= per_day
if step == 'take' and now < banned then
  outcome = 'banned'
elseif step == 'take' and (minute_full or day_full) then
  outcome, exhausted = 'limited', minute_full and 'minute' or 'day'
  local minute_end, day_end = (start == NOT_STARTED and now or start) + MINUTE, (day + 1) * DAY + ahead
  if minute_full and day_full then exhausted = minute_end > day_end and 'minute' or 'day' end
  if is_client then
    if now < since or now >= series_end then
      refusals, since = 0, now
      series_end = min(now + SERIES, exhausted == 'minute' and minute_end or day_end)
    end
    if now >= since + NOTICE then refusals = refusals + 1 end
    if refusals > max(TOLERATED, per_minute / 2) then
      local current = level
      if level > 0 then current = max(0, level - floor((now - banned) / FORGIVENESS)) end
      level = min(current + 1, #BANS)
      banned, by_operator, refusals, since, series_end = now + BANS[level], 0, 0, 0, 0
      outcome, exhausted, newly = 'banned', '', 1
    end
  end
elseif step == 'take' then
  if start == NOT_STARTED then start = now end
  minute = minute + 1
  if per_day >= 0 then used = used + 1 end
elseif step == 'refund' then
  if taken_at >= start and taken_at < start + MINUTE and minute > 0 and minute_refunds < per_minute then
    minute, minute_refunds = minute - 1, minute_refunds + 1
  end
  if floor((taken_at - ahead) / DAY) == day and used > 0 and day_refunds < per_day then
    used, day_refunds, outcome = used - 1, day_refunds + 1, 'refunded'
  end
end

if writes then
  local windows = cmsgpack.pack(start, minute, minute_refunds, day, used, day_refunds, known_reset)
  redis.call('SET', KEYS[1], windows, 'PX', is_client and 2 * DAY or MINUTE)
end
if is_client then
  -- Most requests do not change the bans.
  local bans = packed_bans()
  if bans ~= bans_before then redis.call('SET', KEYS[2], bans, 'PX', max(2 * DAY, banned - now + DAY)) end
end
return {outcome, exhausted, newly, now, start, minute, minute_refunds, day, used, day_refunds,
  level, banned, by_operator, stamp, refusals, since, series_end}
`;

export type Step = 'take' | 'refund' | 'read';

/** The arguments of QUOTA_SCRIPT after the times. @param takenAt for a refund */
export function scriptArguments(
  { key, limits: { perMinute, perDay } }: LimitedClient,
  step: Step,
  takenAt: number,
  usage?: StoredUsage,
): (string | number)[] {
  const values = [step, perMinute, perDay ?? -1, takenAt];
  if (key !== null) {
    const { level, bannedUntil, byOperator, changedAt } = key.ban;
    values.push(key.resetAt, level, bannedUntil, Number(byOperator), changedAt);
  }
  if (usage !== undefined) {
    const { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds } = usage.windows;
    values.push(minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds, usage.resetAt);
  }
  return values;
}

type Windows = [number, number, number, number, number, number, ...number[]];
type Ban = [number, number, number, number, number, number, number];

/** What QUOTA_SCRIPT returns after a step. */
export type StateReply = [
  outcome: Outcome | 'refunded',
  exhausted: WindowName | '',
  newly: number,
  now: number,
  ...number[],
];
export type Reply = StateReply | ['unknown'];

/** The client's state after a step, and the result of the step. */
export interface StateAfter extends QuotaState {
  outcome: Outcome | 'refunded';
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
  /** How far the clock of Redis is ahead of that of this instance. All times are on the latter. */
  aheadMs: number;
}

/** @param receivedAt of this instance: until then, the times of Redis are later here than there, and no announced one is early */
export function toState(reply: StateReply, { key, limits }: LimitedClient, receivedAt: number): StateAfter {
  const [outcome, exhausted, newly, redisNow, ...values] = reply;
  const [minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds, ...ban] = values as Windows;
  const [level, bannedUntil, byOperator, changedAt, refusals, seriesStart, seriesEnd] = ban as Ban;
  const aheadMs = redisNow - receivedAt;
  // 0 is never.
  const here = (time: number) => (time === 0 ? 0 : time - aheadMs);
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    isNewlyBanned: newly === 1,
    aheadMs,
    now: receivedAt,
    limits,
    perMinute: limits.perMinute,
    windows: { minuteStart: minuteStart - aheadMs, minuteCount, minuteRefunds, day, dayCount, dayRefunds },
    ban:
      key !== null
        ? {
            level,
            bannedUntil: here(bannedUntil),
            byOperator: byOperator === 1,
            changedAt,
            refusals,
            seriesStart: here(seriesStart),
            seriesEnd: here(seriesEnd),
          }
        : null,
  };
}
