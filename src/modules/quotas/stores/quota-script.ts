// A subject's state in Redis: its keys and fields, the script that changes it, and how to parse what that returns.
import {
  BAN_DURATIONS_MS,
  type BanState,
  FORGIVENESS_MS,
  NOTICE_MS,
  type Outcome,
  REFUSALS_BEFORE_BAN,
} from '../rules/decision';
import { CLOCK_STEP_MS, DAY_MS, MINUTE_MS, type WindowName, type WindowState } from '../rules/limits';
import type { Subject } from './quota-store';

export function keysOf(subject: Subject): string[] {
  return subject.kind === 'client'
    ? keysOfClient(subject.clientId, subject.keyId)
    : [`petstore:{address:${subject.address}}:counts`];
}

/** The braces are a hash tag, so that all keys of a client are on one cluster node. */
export function keysOfClient(clientId: number, keyId: number): [windows: string, bans: string] {
  return [windowsOfClient(clientId), `petstore:{client:${clientId}}:bans:${keyId}`];
}

export function windowsOfClient(clientId: number): string {
  return `petstore:{client:${clientId}}:counts`;
}

/**
 * The rules of limits.ts and decision.ts as atomic steps inside Redis, on its clock. A test runs
 * both against the same histories to detect any difference.
 *
 * One call runs all steps of one turn of the event loop; each belongs to one subject and is independent.
 * KEYS: for each step the windows of the client or address, then, for a client, the bans of the key. Both have the
 * client's hash tag, so that a cluster keeps them together.
 * ARGV: the deadline on the clock of Redis, from which on nothing is done, because the caller has given up; then for each
 * step its name (take, refund, look, ban, reset, mark stale), its number of keys, requests per minute,
 * requests per day (-1 for none), for refund the time when the request was taken, and the number of values from the
 * database that follow: none if it was not read, or six: day, requests of that day, level, end and origin of the ban, the last
 * reset of the windows.
 * Returns the time of Redis and, before the deadline, for each step {outcome (of refund: refunded, if the day's count was lowered), exhausted window or '', newly
 * banned, now, then the windows and the bans}; or {'unknown'} if the state is missing and must be
 * read from the database; or {'failed', why}.
 */
export const QUOTA_SCRIPT = `
local MINUTE, DAY, STEP_BACK = ${MINUTE_MS}, ${DAY_MS}, ${CLOCK_STEP_MS}
local NOT_STARTED = -MINUTE
local REFUSALS, NOTICE, FORGIVENESS = ${REFUSALS_BEFORE_BAN}, ${NOTICE_MS}, ${FORGIVENESS_MS}
local BANS = {${BAN_DURATIONS_MS.join(', ')}}
local redis_call, to_number, floor, max, min = redis.call, tonumber, math.floor, math.max, math.min

local time = redis_call('TIME')
local clock = to_number(time[1]) * 1000 + floor(to_number(time[2]) / 1000)
if clock >= to_number(ARGV[1]) then return {clock} end
local now = clock
local today = floor(now / DAY)

-- The values of a subject's windows or bans, in the order in which they are written, and whether they are stale.
local function read(key)
  local packed = redis_call('GET', key)
  if packed then return cmsgpack.unpack(packed) end
end

local function write(key, milliseconds, ...)
  redis_call('SET', key, cmsgpack.pack(...), 'PX', milliseconds)
end

local function write_bans(key, level, banned, by_operator, refusals, since, until_)
  -- Expired bans are read from the database again.
  write(key, max(2 * DAY, banned - now + DAY), level, banned, by_operator, refusals, since, until_)
end

-- Every notified instance sends this; only the first one may take effect.
local function reset(windows, reset_at)
  local start, _, _, _, _, _, known = read(windows)
  if start and known < reset_at then write(windows, 2 * DAY, NOT_STARTED, 0, 0, today, 0, 0, reset_at) end
  return {'unknown'}
end

-- The client was counted elsewhere: keeps its minute, and reloads its day and bans from the database.
local function mark_stale(windows, key_bans)
  for _, key in ipairs({windows, key_bans}) do
    if redis_call('EXISTS', key) == 1 then redis_call('APPEND', key, cmsgpack.pack(true)) end
  end
  return {'unknown'}
end

-- Sets a key's bans from the database. The windows were not read from it, so they do not change.
local function ban(key_bans, level, banned, by_operator)
  write_bans(key_bans, level, banned, by_operator, 0, 0, 0)
  return {'unknown'}
end

local function current_level(level, banned)
  if level == 0 or now < banned then return level end
  return max(0, level - floor((now - banned) / FORGIVENESS))
end

local function run(step, windows, key_bans, per_minute, per_day, taken, asked)
  local start, minute, minute_refunds, day, used, day_refunds, known_reset, windows_stale = read(windows)
  local level, banned, by_operator, refusals, since, until_, bans_stale
  if key_bans then
    level, banned, by_operator, refusals, since, until_, bans_stale = read(key_bans)
    local know_windows, know_bans = start and not windows_stale, level and not bans_stale
    if not asked and not (know_windows and know_bans) then return {'unknown'} end
    if not know_bans then
      level, banned, by_operator = to_number(ARGV[asked + 2]), to_number(ARGV[asked + 3]), to_number(ARGV[asked + 4])
    end
    if not know_windows then
      local remembered = to_number(ARGV[asked]) == today and to_number(ARGV[asked + 1]) or 0
      local reset_at = to_number(ARGV[asked + 5])
      if not start or known_reset < reset_at then
        start, minute, used = NOT_STARTED, 0, remembered
        minute_refunds, day_refunds = 0, 0
      elseif day == today then
        used = max(used, remembered)
      else
        used, day_refunds = remembered, 0
      end
      day, known_reset = today, reset_at
    end
  elseif not start then
    start, minute, minute_refunds, day, used, day_refunds, known_reset = NOT_STARTED, 0, 0, today, 0, 0, 0
  end
  level, banned, by_operator = level or 0, banned or 0, by_operator or 0
  refusals, since, until_ = refusals or 0, since or 0, until_ or 0
  local bans_before = key_bans and cmsgpack.pack(level, banned, by_operator, refusals, since, until_)

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
  if step == 'take' then
    if key_bans and now < banned then
      outcome = 'banned'
    else
      local minute_full = minute >= per_minute
      local day_full = per_day >= 0 and used >= per_day
      if minute_full or day_full then
        outcome = 'limited'
        local minute_end = (start == NOT_STARTED and now or start) + MINUTE
        local day_end = (day + 1) * DAY
        exhausted = minute_full and 'minute' or 'day'
        if minute_full and day_full then exhausted = minute_end > day_end and 'minute' or 'day' end
        if key_bans then
          if now >= until_ then refusals, since, until_ = 0, 0, 0 end
          if since == 0 or now < since then since = now end
          if now >= since + NOTICE then refusals = refusals + 1 end
          if refusals >= REFUSALS then
            level = min(current_level(level, banned) + 1, #BANS)
            banned, by_operator = now + BANS[level], 0
            refusals, since, until_ = 0, 0, 0
            outcome, exhausted, newly = 'banned', '', 1
          else
            until_ = max(until_, exhausted == 'minute' and minute_end or day_end)
          end
        end
      else
        if start == NOT_STARTED then start = now end
        minute = minute + 1
        if per_day >= 0 then used = used + 1 end
        refusals, since, until_ = 0, 0, 0
      end
    end
  elseif step == 'refund' then
    if taken >= start and taken < start + MINUTE and minute > 0 and minute_refunds < per_minute then
      minute, minute_refunds = minute - 1, minute_refunds + 1
    end
    if floor(taken / DAY) == day and used > 0 and day_refunds < per_day then
      used, day_refunds = used - 1, day_refunds + 1
      outcome = 'refunded'
    end
  end

  write(windows, key_bans and 2 * DAY or MINUTE, start, minute, minute_refunds, day, used, day_refunds, known_reset)
  -- Most requests do not change the bans.
  local changed = key_bans and (asked or cmsgpack.pack(level, banned, by_operator, refusals, since, until_) ~= bans_before)
  if changed then write_bans(key_bans, level, banned, by_operator, refusals, since, until_) end
  return {outcome, exhausted, newly, now, start, minute, minute_refunds, day, used, day_refunds,
    refusals, since, until_, level, banned, by_operator}
end

local function answer(step, windows, key_bans, at, asked)
  if step == 'reset' then return reset(windows, to_number(ARGV[asked + 5])) end
  if step == 'mark stale' then return mark_stale(windows, key_bans) end
  if step == 'ban' then
    return ban(key_bans, to_number(ARGV[asked + 2]), to_number(ARGV[asked + 3]), to_number(ARGV[asked + 4]))
  end
  return run(step, windows, key_bans, to_number(ARGV[at + 2]), to_number(ARGV[at + 3]), to_number(ARGV[at + 4]), asked)
end

local answers = {clock}
local key, at = 1, 2
while at <= #ARGV do
  local keys, values = to_number(ARGV[at + 1]), to_number(ARGV[at + 5])
  local asked = values > 0 and at + 6 or nil
  -- An error in one subject's keys must not affect the others.
  local done, reply = pcall(answer, ARGV[at], KEYS[key], keys > 1 and KEYS[key + 1] or nil, at, asked)
  if not done then reply = {'failed', type(reply) == 'table' and reply.err or tostring(reply)} end
  answers[#answers + 1] = reply
  key = key + keys
  at = at + 6 + values
end
return answers
`;

type Numbers6 = [number, number, number, number, number, number, ...number[]];

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

export function toState(reply: Reply, hasKey: boolean): StateAfter {
  const [outcome, exhausted, newly, now, ...values] = reply as [
    Outcome | 'refunded',
    WindowName | '',
    number,
    number,
    ...number[],
  ];
  const [minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds, ...bans] = values as Numbers6;
  const [refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator] = bans as Numbers6;
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    newlyBanned: newly === 1,
    now,
    windows: { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds },
    bans: hasKey
      ? { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator: byOperator === 1 }
      : null,
  };
}
