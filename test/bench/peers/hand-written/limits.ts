import type { Client } from './clients';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** An address has no day. */
const OF_ADDRESS = { perMinute: 60, perDay: null };

type Limit = Pick<Client, 'perMinute'> & { perDay: number | null };

interface Windows {
  minuteEnd: number;
  minuteCount: number;
  minuteRefunds: number;
  dayEnd: number;
  dayCount: number;
  dayRefunds: number;
}

/** Whole seconds to wait where the request is refused, 0 where it is let through; and the header fields about the limits. */
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
      ? takeFrom(windowsIn(this.clients, client.id, now), client, now)
      : takeFrom(windowsIn(this.addresses, ip, now), OF_ADDRESS, now);
  }

  /** Refunds a request that does not count; of a window at most as many as its limit. */
  refund(client: Client, now: number): Verdict['headers'] {
    const windows = windowsIn(this.clients, client.id, now);
    if (windows.minuteCount > 0 && windows.minuteRefunds < client.perMinute) {
      windows.minuteCount -= 1;
      windows.minuteRefunds += 1;
    }
    if (windows.dayCount > 0 && windows.dayRefunds < client.perDay) {
      windows.dayCount -= 1;
      windows.dayRefunds += 1;
    }
    return headersOf(windows, client, now, false, false);
  }
}

function windowsIn<Key>(all: Map<Key, Windows>, key: Key, now: number): Windows {
  let windows = all.get(key);
  if (!windows) {
    windows = { minuteEnd: 0, minuteCount: 0, minuteRefunds: 0, dayEnd: 0, dayCount: 0, dayRefunds: 0 };
    all.set(key, windows);
  }
  if (now >= windows.minuteEnd) {
    windows.minuteEnd = now + MINUTE_MS;
    windows.minuteCount = windows.minuteRefunds = 0;
  }
  if (now >= windows.dayEnd) {
    windows.dayEnd = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    windows.dayCount = windows.dayRefunds = 0;
  }
  return windows;
}

function takeFrom(windows: Windows, limit: Limit, now: number): Verdict {
  const minuteFull = windows.minuteCount >= limit.perMinute;
  const dayFull = limit.perDay !== null && windows.dayCount >= limit.perDay;
  if (!minuteFull && !dayFull) {
    windows.minuteCount += 1;
    windows.dayCount += 1;
  }
  const end = dayFull ? windows.dayEnd : windows.minuteEnd;
  return {
    retryAfter: dayFull || minuteFull ? Math.ceil((end - now) / 1_000) : 0,
    headers: headersOf(windows, limit, now, minuteFull, dayFull),
  };
}

function headersOf(
  windows: Windows,
  { perMinute, perDay }: Limit,
  now: number,
  minuteFull: boolean,
  dayFull: boolean,
): Verdict['headers'] {
  const minuteLeft = perMinute - windows.minuteCount;
  const dayLeft = perDay === null ? Infinity : perDay - windows.dayCount;
  const isDay = dayFull || (!minuteFull && dayLeft <= minuteLeft);
  const minuteWait = Math.ceil((windows.minuteEnd - now) / 1_000);
  const dayWait = Math.ceil((windows.dayEnd - now) / 1_000);
  return {
    'X-RateLimit-Limit': isDay ? perDay! : perMinute,
    'X-RateLimit-Remaining': isDay ? dayLeft : minuteLeft,
    'X-RateLimit-Reset': Math.ceil((isDay ? windows.dayEnd : windows.minuteEnd) / 1_000),
    'RateLimit-Policy': `"minute";q=${perMinute};w=60${perDay === null ? '' : `, "day";q=${perDay};w=86400`}`,
    RateLimit: `"minute";r=${minuteLeft};t=${minuteWait}${perDay === null ? '' : `, "day";r=${dayLeft};t=${dayWait}`}`,
  };
}
