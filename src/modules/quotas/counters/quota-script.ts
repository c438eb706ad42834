import type { StoredBan } from '../../auth';
import {
  ALWAYS_TOLERATED,
  type BanState,
  BAN_DURATIONS_MS,
  FORGIVENESS_MS,
  newBanState,
  NOTICE_MS,
  SERIES_MS,
} from '../rules/bans';
import { type Outcome, type Decision, decisionOf, type Step } from '../rules/decision';
import { WINDOW_MS, type WindowName, type Windows } from '../rules/limits';
import type { AllowedAlone } from './alone-counters';
import type { LimitSubject } from './quota-counters';

/**
 * Lua script with the rules of limits.ts, bans.ts and decision.ts, which Redis runs atomically. Returns a `ScriptResult` as
 * JSON, or nothing if the counts have to be read from the database first. A function of the script has the name of the
 * function in TypeScript with the same rule, for example `count_refusal` for `countRefusal`. Some rules that are functions in
 * TypeScript are inlined in the script, because each function of the script costs time. A comment there names the function
 * in TypeScript. Who changes a rule must change both. test/system/quotas/redis-counters.spec.ts applies random histories of requests in memory and in Redis, and
 * fails if a decision differs.
 */
export const QUOTA_SCRIPT = `
local given = cjson.decode(ARGV[1])
local limits, key, step = given.limits, given.key, given.step
-- The steps take and read are strings. The steps refund and report are tables.
local refunded, reported = type(step) == 'table' and step.refund, type(step) == 'table' and step.report
local floor, max, min = math.floor, math.max, math.min
local LENGTHS = {minute = ${WINDOW_MS.minute}, day = ${WINDOW_MS.day}}
local NAMES = key and {'minute', 'day'} or {'minute'}
local BANS = {${BAN_DURATIONS_MS.join(', ')}}

local time = redis.call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)
local ahead = now - given.now
local starts = {minute = now, day = floor(given.now / LENGTHS.day) * LENGTHS.day + ahead}

local function load(name)
  local packed = redis.call('GET', name)
  return packed and cmsgpack.unpack(packed)
end

local function new_windows()
  return {minute = {start = 0, count = 0, refunds = 0}, day = {start = 0, count = 0, refunds = 0}}
end

-- Finds the counts in Redis and, if the instance has sent the client's counts in the database, these as well. The counts
-- of an address are only in Redis.
local windows, stored = load(KEYS[1]), given.stored
if key and not windows and not stored then return false end
if windows then windows.day.start = windows.day.start + ahead end
if stored then
  stored.resetAt = key.resetAt
  stored.minute.start, stored.day.start = stored.minute.start + ahead, stored.day.start + ahead
end
windows = windows or stored or new_windows()

-- Returns false if the other window has ended. Otherwise, if only this window has ended, begins this window again, at
-- the start of the other window and with a count of 0.
local function begin_with(window, other, name)
  if now >= other.start + LENGTHS[name] then return false end
  if now >= window.start + LENGTHS[name] then window.start, window.count, window.refunds = other.start, 0, 0 end
  return true
end

local ban, loaded_ban, ban_changed

if key then
  -- windowsOf (memory-counters.ts): after a reset by an operator, the counts begin again.
  if key.resetAt > windows.resetAt then
    windows = new_windows()
    windows.resetAt = key.resetAt
  end
  -- Redis may have restarted from an older file, so take the larger count.
  for _, name in ipairs(NAMES) do
    local window, other = windows[name], stored and stored.resetAt >= windows.resetAt and stored[name]
    if other and begin_with(window, other, name) then
      window.count, window.refunds = max(window.count, other.count), max(window.refunds, other.refunds)
    end
  end
  loaded_ban = load(KEYS[2])
  ban = loaded_ban
    or {level = 0, bannedUntil = 0, byOperator = false, changedAt = 0, refusals = 0, seriesStart = 0, seriesEnd = 0}
  -- applyStoredBan
  if key.ban.changedAt > ban.changedAt then
    local banned_until = key.ban.bannedUntil + ahead
    -- If this script banned the key, the ban comes back from the database with an end that differs by the duration of
    -- two calls. Keep the end that the script has announced to the client.
    if key.ban.byOperator or math.abs(banned_until - ban.bannedUntil) > 1000 then ban.bannedUntil = banned_until end
    ban.level, ban.byOperator, ban.changedAt = key.ban.level, key.ban.byOperator, key.ban.changedAt
    ban_changed = true
  end
end

-- Adds the requests that the instance allowed alone. The counts from the database already contain these requests. Ignores
-- requests from before an operator reset the counts.
if reported and not stored and (not key or key.resetAt == windows.resetAt) then
  reported.start = reported.start + ahead
  if begin_with(windows.minute, reported, 'minute') then windows.minute.count = windows.minute.count + reported.count end
end

-- rollWindows
local ends = {}
for _, name in ipairs(NAMES) do
  local window = windows[name]
  ends[name] = window.start + LENGTHS[name]
  if now >= ends[name] then
    window.count, window.refunds, ends[name] = 0, 0, starts[name] + LENGTHS[name]
  elseif now < window.start then
    window.start, ends[name] = starts[name], starts[name] + LENGTHS[name]
  end
end

-- Returns the name of the window whose limit is reached, or counts the request.
local function take()
  local exhausted
  for _, name in ipairs(NAMES) do
    if windows[name].count >= limits[name] and (not exhausted or ends[name] >= ends[exhausted]) then exhausted = name end
  end
  if exhausted then return exhausted end
  for _, name in ipairs(NAMES) do
    windows[name].start, windows[name].count = ends[name] - LENGTHS[name], windows[name].count + 1
  end
end

-- Returns true if the request was subtracted from the count of the day.
local function refund()
  local taken_at, is_of_day = refunded.takenAt, false
  for _, name in ipairs(NAMES) do
    local window = windows[name]
    local is_inside = taken_at >= window.start and taken_at < ends[name]
    if is_inside and window.count > 0 and window.refunds < limits[name] then
      window.count, window.refunds = window.count - 1, window.refunds + 1
      is_of_day = name == 'day'
    end
  end
  return is_of_day
end

-- Returns true if the key is now banned.
local function count_refusal(window_end)
  ban_changed = true
  if now < ban.seriesStart or now >= ban.seriesEnd then
    ban.refusals, ban.seriesStart, ban.seriesEnd = 0, now, min(now + ${SERIES_MS}, window_end)
  end
  if now >= ban.seriesStart + ${NOTICE_MS} then ban.refusals = ban.refusals + 1 end
  -- refusalsBeforeBan
  if ban.refusals <= max(${ALWAYS_TOLERATED}, floor(limits.minute / 2)) then return false end
  -- banLevel and nextBanMs
  local level = ban.level
  if level > 0 then level = max(0, level - floor((now - ban.bannedUntil) / ${FORGIVENESS_MS})) end
  ban.level = min(level + 1, #BANS)
  ban.bannedUntil, ban.byOperator = now + BANS[ban.level], false
  ban.refusals, ban.seriesStart, ban.seriesEnd = 0, 0, 0
  return true
end

-- applyStep
local outcome, exhausted, newly_banned = 'unchanged', nil, false
if step == 'take' and key and now < ban.bannedUntil then
  outcome = 'banned'
elseif step == 'take' then
  exhausted = take()
  newly_banned = exhausted and key and count_refusal(ends[exhausted]) or false
  outcome = newly_banned and 'banned' or exhausted and 'limited' or 'allowed'
elseif refunded and refund() then
  outcome = 'refunded'
end

-- Saves the counts and the ban. A read changes nothing, but saves counts from the database, because the instance sends
-- these counts only once.
windows.day.start = windows.day.start - ahead
if step ~= 'read' or stored then
  redis.call('SET', KEYS[1], cmsgpack.pack(windows), 'PX', key and 2 * LENGTHS.day or LENGTHS.minute)
end
if step ~= 'read' and ban_changed then
  local kept = max(2 * LENGTHS.day, ban.bannedUntil - now + LENGTHS.day)
  redis.call('SET', KEYS[2], cmsgpack.pack(ban), 'PX', kept)
end
return cjson.encode({outcome = outcome, exhausted = outcome == 'limited' and exhausted or nil, isNewlyBanned = newly_banned,
  now = now, windows = windows, ban = (loaded_ban or ban_changed) and ban or nil})
`;

/**
 * What the script does: a `Step`, or a report after an outage of Redis. The report names the requests that an instance
 * allowed during the outage. The script adds these requests to the count of their minute.
 */
export type ScriptStep = Step | { report: AllowedAlone };

/** Argument of the script. Times are on the clock of the instance, except `takenAt` in `step`, which is on the clock of Redis. */
export interface ScriptArgument {
  now: number;
  step: ScriptStep;
  limits: { minute: number; day?: number };
  key?: { ban: StoredBan; resetAt: number };
  /**
   * The client's counts in the database. If Redis has no counts of the client, or lower counts, Redis continues with these.
   */
  stored?: Windows;
}

/**
 * Result of the script. Times are on the clock of Redis, except the start of the day, which is on the clock of the
 * instance.
 */
interface ScriptResult {
  outcome: Outcome;
  exhausted?: WindowName;
  isNewlyBanned: boolean;
  now: number;
  windows: Windows;
  ban?: BanState;
}

/** Converts the times of a `ScriptResult` from the clock of Redis to the clock of this instance. */
export function toDecision(json: string, { key, limits }: LimitSubject, receivedAt: number): Decision {
  const answer = JSON.parse(json) as ScriptResult;
  const { minute, day } = answer.windows;
  const { outcome, exhausted, isNewlyBanned, now: redisNow, ban = newBanState() } = answer;
  const aheadMs = redisNow - receivedAt;
  for (const time of ['bannedUntil', 'seriesStart', 'seriesEnd'] as const) {
    // Convert the time from the clock of Redis, which is `aheadMs` ahead of the clock of this instance. Leave a 0, which means
    // that the key has never been banned or has no current series of refusals (`SERIES_MS`).
    ban[time] &&= ban[time] - aheadMs;
  }
  const state = {
    windows: { minute: { ...minute, start: minute.start - aheadMs }, day },
    ban: key && ban,
    limits,
    now: receivedAt,
  };
  // Do not convert `takenAt` to the local clock, because this time is sent back to Redis if the request is refunded.
  return decisionOf(state, { outcome, exhausted, isNewlyBanned, takenAt: redisNow });
}
