import type { Client } from './clients';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ADDRESS_PER_MINUTE = 60;

interface Windows {
  minuteEnd: number;
  minuteCount: number;
  dayEnd: number;
  dayCount: number;
}

/** Whole seconds to wait where the request is refused, 0 where it is let through; and what to tell of the limits. */
export interface Verdict {
  retryAfter: number;
  headers: Record<string, string | number>;
}

/** Counts in memory: a minute from the first request in it, and for clients the UTC day as well. */
export class Limits {
  private readonly clients = new Map<number, Windows>();
  private readonly addresses = new Map<string, Windows>();

  take(client: Client | undefined, ip: string, now: number): Verdict {
    return client
      ? takeBoth(windowsIn(this.clients, client.id, now), client, now)
      : takeMinute(windowsIn(this.addresses, ip, now), now);
  }
}

function windowsIn<Key>(all: Map<Key, Windows>, key: Key, now: number): Windows {
  let windows = all.get(key);
  if (!windows) {
    windows = { minuteEnd: 0, minuteCount: 0, dayEnd: 0, dayCount: 0 };
    all.set(key, windows);
  }
  if (now >= windows.minuteEnd) {
    windows.minuteEnd = now + MINUTE_MS;
    windows.minuteCount = 0;
  }
  if (now >= windows.dayEnd) {
    windows.dayEnd = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    windows.dayCount = 0;
  }
  return windows;
}

function takeBoth(windows: Windows, { perMinute, perDay }: Client, now: number): Verdict {
  const minuteFull = windows.minuteCount >= perMinute;
  const dayFull = windows.dayCount >= perDay;
  if (!minuteFull && !dayFull) {
    windows.minuteCount += 1;
    windows.dayCount += 1;
  }
  const minuteLeft = perMinute - windows.minuteCount;
  const dayLeft = perDay - windows.dayCount;
  const tellsDay = dayFull || (!minuteFull && dayLeft <= minuteLeft);
  const minuteWait = Math.ceil((windows.minuteEnd - now) / 1_000);
  const dayWait = Math.ceil((windows.dayEnd - now) / 1_000);
  return {
    retryAfter: dayFull ? dayWait : minuteFull ? minuteWait : 0,
    headers: {
      'X-RateLimit-Limit': tellsDay ? perDay : perMinute,
      'X-RateLimit-Remaining': tellsDay ? dayLeft : minuteLeft,
      'X-RateLimit-Reset': Math.ceil((tellsDay ? windows.dayEnd : windows.minuteEnd) / 1_000),
      'RateLimit-Policy': `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
      RateLimit: `"minute";r=${minuteLeft};t=${minuteWait}, "day";r=${dayLeft};t=${dayWait}`,
    },
  };
}

function takeMinute(windows: Windows, now: number): Verdict {
  const full = windows.minuteCount >= ADDRESS_PER_MINUTE;
  if (!full) {
    windows.minuteCount += 1;
  }
  const left = ADDRESS_PER_MINUTE - windows.minuteCount;
  const wait = Math.ceil((windows.minuteEnd - now) / 1_000);
  return {
    retryAfter: full ? wait : 0,
    headers: {
      'X-RateLimit-Limit': ADDRESS_PER_MINUTE,
      'X-RateLimit-Remaining': left,
      'X-RateLimit-Reset': Math.ceil(windows.minuteEnd / 1_000),
      'RateLimit-Policy': `"minute";q=${ADDRESS_PER_MINUTE};w=60`,
      RateLimit: `"minute";r=${left};t=${wait}`,
    },
  };
}
