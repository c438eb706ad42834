import { BAN_DURATIONS_MS, FORGIVENESS_MS, REFUSALS_BEFORE_BAN } from '../ban-rules';
import { CLOCK_STEP_MS, DAY_MS, MINUTE_MS } from '../rate-window';

/**
 * The rules of rate-window.ts, ban-rules.ts and decision.ts as one atomic step inside Redis, on its clock. A test runs
 * both against the same histories, so they cannot come to differ unnoticed.
 *
 * KEYS: the windows of the client or address; the bans of the key, for a client only. Both carry the client's hash tag,
 * so that a cluster keeps them together.
 * ARGV: 1 step (take, back, look, ban, reset, doubt); 2 requests a minute; 3 requests a day, -1 for none; 4 the time, empty
 * for the server's own; 5 for back: when the request was taken; 6 to 10 what the database remembers, empty if it was
 * not asked: day, requests of that day, level and end of the ban, the last reset of the windows.
 * Returns {outcome (of back: returned, when the day's count was lowered), exhausted window or '', newly banned, now, minuteStart, minuteCount, day, dayCount, refusals,
 * refusalsUntil, level, bannedUntil}, or {'unknown'} when the state is not there and the database has to be asked.
 */
export const QUOTA_SCRIPT = `
local MINUTE, DAY, STEP_BACK = ${MINUTE_MS}, ${DAY_MS}, ${CLOCK_STEP_MS}
local NOT_STARTED = -MINUTE
local REFUSALS, FORGIVENESS = ${REFUSALS_BEFORE_BAN}, ${FORGIVENESS_MS}
local BANS = {${BAN_DURATIONS_MS.join(', ')}}

local step, per_minute, per_day = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local today = math.floor(now / DAY)
local has_key = KEYS[2] ~= nil

if step == 'reset' then
  -- Every instance that hears of a reset asks for it; the first one does it, and later ones must not do it again.
  local known = redis.call('HGET', KEYS[1], 'z')
  if redis.call('EXISTS', KEYS[1]) == 1 and tonumber(known or 0) < tonumber(ARGV[10]) then
    redis.call('HSET', KEYS[1], 's', NOT_STARTED, 'm', 0, 'd', today, 'n', 0, 'z', ARGV[10])
  end
  return {'unknown'}
end

if step == 'doubt' then
  -- The client was counted elsewhere for a while: its minute stands, its day and its bans are asked for anew.
  for _, key in ipairs(KEYS) do
    if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'x', 1) end
  end
  return {'unknown'}
end

local w = redis.call('HMGET', KEYS[1], 's', 'm', 'd', 'n', 'x', 'z')
local start, minute, day, used = tonumber(w[1]), tonumber(w[2]), tonumber(w[3]), tonumber(w[4])
local refusals, until_, level, banned = 0, 0, 0, 0
local b
if has_key then
  b = redis.call('HMGET', KEYS[2], 'r', 'u', 'l', 'b', 'x')
  if ARGV[6] == '' and (not start or w[5] or not b[1] or b[5]) then return {'unknown'} end
  if b[1] then
    refusals, until_, level, banned = tonumber(b[1]), tonumber(b[2]), tonumber(b[3]), tonumber(b[4])
  end
  if not b[1] or b[5] then
    level, banned = tonumber(ARGV[8]), tonumber(ARGV[9])
    redis.call('HDEL', KEYS[2], 'x')
  end
  if not start or w[5] then
    local remembered = tonumber(ARGV[6]) == today and tonumber(ARGV[7]) or 0
    if not start or tonumber(w[6] or 0) < tonumber(ARGV[10]) then
      start, minute, used = NOT_STARTED, 0, remembered
    elseif day == today then
      used = math.max(used, remembered)
    else
      used = remembered
    end
    day = today
    redis.call('HSET', KEYS[1], 'z', ARGV[10])
    redis.call('HDEL', KEYS[1], 'x')
  end
elseif not start then
  start, minute, day, used = NOT_STARTED, 0, today, 0
end

if now < start then
  start = now
elseif now >= start + MINUTE then
  start, minute = NOT_STARTED, 0
end
if today > day then
  day, used = today, 0
elseif now < day * DAY - STEP_BACK then
  day = today
end

local function current_level()
  if level == 0 or now < banned then return level end
  return math.max(0, level - math.floor((now - banned) / FORGIVENESS))
end
local function end_series() refusals, until_ = 0, 0 end
local function ban_for(duration)
  local before = current_level()
  if now < banned then level = before else level = math.min(before + 1, #BANS) end
  banned = now + duration
  end_series()
end

local outcome, exhausted, newly = 'allowed', '', 0
if step == 'back' then
  local taken = tonumber(ARGV[5])
  if taken >= start and taken < start + MINUTE and minute > 0 then minute = minute - 1 end
  if math.floor(taken / DAY) == day and used > 0 then
    used = used - 1
    outcome = 'returned'
  end
elseif step == 'ban' then
  level, banned = tonumber(ARGV[8]), tonumber(ARGV[9])
  end_series()
elseif step == 'take' then
  if has_key and now < banned then
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
      if has_key then
        if now >= until_ then end_series() end
        refusals = refusals + 1
        if refusals >= REFUSALS then
          ban_for(BANS[math.min(current_level() + 1, #BANS)])
          outcome, exhausted, newly = 'banned', '', 1
        else
          until_ = math.max(until_, exhausted == 'minute' and minute_end or day_end)
        end
      end
    else
      if start == NOT_STARTED then start = now end
      minute = minute + 1
      if per_day >= 0 then used = used + 1 end
      if refusals > 0 then end_series() end
    end
  end
end

-- Most requests change nothing of the bans, and every minute is often enough to put off the end of what lasts for days.
local begun = start ~= tonumber(w[1])
redis.call('HSET', KEYS[1], 's', start, 'm', minute, 'd', day, 'n', used)
if begun then redis.call('PEXPIRE', KEYS[1], has_key and 2 * DAY or MINUTE) end
if has_key then
  local changed = refusals ~= tonumber(b[1]) or until_ ~= tonumber(b[2]) or level ~= tonumber(b[3]) or banned ~= tonumber(b[4])
  if changed then redis.call('HSET', KEYS[2], 'r', refusals, 'u', until_, 'l', level, 'b', banned) end
  if changed or begun then redis.call('PEXPIRE', KEYS[2], math.max(2 * DAY, banned - now + DAY)) end
end
return {outcome, exhausted, newly, now, start, minute, day, used, refusals, until_, level, banned}
`;
