// A subject's state in Redis: its keys and fields, the script that changes it, and how to parse what that returns.
import {
  BAN_DURATIONS_MS,
  type BanState,
  FORGIVENESS_MS,
  NOTICE_MS,
  REFUSALS_BEFORE_BAN,
} from '../rules/ban-rules';
import type { Outcome } from '../rules/decision';
import { CLOCK_STEP_MS, DAY_MS, MINUTE_MS, type WindowName, type WindowState } from '../rules/rate-window';
import type { Subject } from './quota-store';

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

const W = WINDOW_FIELDS;
const B = BAN_FIELDS;

function list(fields: Record<string, string>): string {
  return Object.values(fields)
    .map((field) => `'${field}'`)
    .join(', ');
}

/**
 * The rules of rate-window.ts, ban-rules.ts and decision.ts as atomic steps inside Redis, on its clock. A test runs
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
 * banned, now, then the values of WINDOW_FIELDS and of BAN_FIELDS}; or {'unknown'} if the state is missing and must be
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

-- Every notified instance sends this; only the first one may take effect.
local function reset(windows, reset_at)
  local known = redis_call('HGET', windows, '${RESET_AT}')
  if redis_call('EXISTS', windows) == 1 and to_number(known or 0) < to_number(reset_at) then
    redis_call('HSET', windows, '${W.minuteStart}', NOT_STARTED, '${W.minuteCount}', 0, '${W.minuteRefunds}', 0,
      '${W.day}', today, '${W.dayCount}', 0, '${W.dayRefunds}', 0, '${RESET_AT}', reset_at)
  end
  return {'unknown'}
end

-- The client was counted elsewhere: keeps its minute, and reloads its day and bans from the database.
local function mark_stale(windows, key_bans)
  if redis_call('EXISTS', windows) == 1 then redis_call('HSET', windows, '${STALE}', 1) end
  if key_bans and redis_call('EXISTS', key_bans) == 1 then redis_call('HSET', key_bans, '${STALE}', 1) end
  return {'unknown'}
end

-- Sets a key's bans from the database. The windows were not read from it, so they do not change.
local function ban(key_bans, level, banned, by_operator)
  redis_call('HSET', key_bans, '${B.refusals}', 0, '${B.refusedSince}', 0, '${B.refusalsUntil}', 0,
    '${B.level}', level, '${B.bannedUntil}', banned, '${B.byOperator}', by_operator)
  redis_call('HDEL', key_bans, '${STALE}')
  redis_call('PEXPIRE', key_bans, max(2 * DAY, banned - now + DAY))
  return {'unknown'}
end

local function current_level(level, banned)
  if level == 0 or now < banned then return level end
  return max(0, level - floor((now - banned) / FORGIVENESS))
end

local function run(step, windows, key_bans, per_minute, per_day, taken, asked)
  local w = redis_call('HMGET', windows, ${list(W)}, '${STALE}', '${RESET_AT}')
  local start, minute, minute_refunds = to_number(w[1]), to_number(w[2]), to_number(w[3] or 0)
  local day, used, day_refunds = to_number(w[4]), to_number(w[5]), to_number(w[6] or 0)
  local windows_stale, known_reset = w[7], w[8]
  local refusals, since, until_, level, banned, by_operator = 0, 0, 0, 0, 0, 0
  local b
  if key_bans then
    b = redis_call('HMGET', key_bans, ${list(B)}, '${STALE}')
    local know_windows, know_bans = start and not windows_stale, b[1] and not b[7]
    if not asked and not (know_windows and know_bans) then return {'unknown'} end
    if b[1] then
      refusals, since, until_ = to_number(b[1]), to_number(b[2] or 0), to_number(b[3])
      level, banned, by_operator = to_number(b[4]), to_number(b[5]), to_number(b[6] or 0)
    end
    if not know_bans then
      level, banned, by_operator = to_number(ARGV[asked + 2]), to_number(ARGV[asked + 3]), to_number(ARGV[asked + 4])
      redis_call('HDEL', key_bans, '${STALE}')
    end
    if not know_windows then
      local remembered = to_number(ARGV[asked]) == today and to_number(ARGV[asked + 1]) or 0
      local reset_at = ARGV[asked + 5]
      if not start or to_number(known_reset or 0) < to_number(reset_at) then
        start, minute, used = NOT_STARTED, 0, remembered
        minute_refunds, day_refunds = 0, 0
      elseif day == today then
        used = max(used, remembered)
      else
        used, day_refunds = remembered, 0
      end
      day = today
      redis_call('HSET', windows, '${RESET_AT}', reset_at)
      redis_call('HDEL', windows, '${STALE}')
    end
  elseif not start then
    start, minute, day, used = NOT_STARTED, 0, today, 0
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

  -- Most requests do not change the bans. Their keys expire after days, so extending that once a minute is enough.
  local begun = start ~= to_number(w[1])
  redis_call('HSET', windows, '${W.minuteStart}', start, '${W.minuteCount}', minute, '${W.minuteRefunds}', minute_refunds,
    '${W.day}', day, '${W.dayCount}', used, '${W.dayRefunds}', day_refunds)
  if begun then redis_call('PEXPIRE', windows, key_bans and 2 * DAY or MINUTE) end
  if key_bans then
    local changed = refusals ~= to_number(b[1]) or since ~= to_number(b[2]) or until_ ~= to_number(b[3])
      or level ~= to_number(b[4]) or banned ~= to_number(b[5]) or by_operator ~= to_number(b[6])
    if changed then
      redis_call('HSET', key_bans, '${B.refusals}', refusals, '${B.refusedSince}', since, '${B.refusalsUntil}', until_,
        '${B.level}', level, '${B.bannedUntil}', banned, '${B.byOperator}', by_operator)
    end
    if changed or begun then redis_call('PEXPIRE', key_bans, max(2 * DAY, banned - now + DAY)) end
  end
  return {outcome, exhausted, newly, now, start, minute, minute_refunds, day, used, day_refunds,
    refusals, since, until_, level, banned, by_operator}
end

local function answer(step, windows, key_bans, at, asked)
  if step == 'reset' then return reset(windows, ARGV[asked + 5]) end
  if step == 'mark stale' then return mark_stale(windows, key_bans) end
  if step == 'ban' then return ban(key_bans, to_number(ARGV[asked + 2]), to_number(ARGV[asked + 3]), ARGV[asked + 4]) end
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
