/** The caller's rate limit, as reported by one response. */
export interface RateLimit {
  /** Requests allowed by the window with the fewest remaining. */
  limit: number;
  /** Requests left in that window. */
  remaining: number;
  /** When that window resets, according to the service's clock. */
  resetAt: Date;
  /** Every window that applies (`minute`, `day`); empty without the fields of the IETF draft. */
  windows: RateLimitWindow[];
}

export interface RateLimitWindow {
  name: string;
  limit: number;
  remaining: number;
  windowSeconds: number;
  /** Seconds from the response until the window resets. */
  resetSeconds: number;
}

/** A request was refused because a limit is exhausted (429). The client waits and retries within the call's limits. */
export interface RateLimitNotice {
  /** `rate_limit_exceeded` for the minute, `daily_quota_exceeded` for the day. */
  code: string;
  /** Method and path of the document: `GET /pets`. */
  operation: string;
  /** Whole seconds until requests are accepted again. */
  retryAfterSeconds?: number;
  rateLimit?: RateLimit;
}

/**
 * Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset` (unix seconds), and of draft-ietf-httpapi-ratelimit-headers
 * `RateLimit-Policy` (`"minute";q=60;w=60`) and `RateLimit` (`"minute";r=59;t=60`).
 * @returns undefined for a response without the first three
 */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    wholeNumber(headers.get(`x-ratelimit-${name}`)),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) {
    return undefined;
  }
  return { limit, remaining, resetAt: new Date(reset * 1_000), windows: readWindows(headers) };
}

function readWindows(headers: Headers): RateLimitWindow[] {
  const states = readItems(headers.get('ratelimit'));
  return [...readItems(headers.get('ratelimit-policy'))].flatMap(([name, { q: limit, w: windowSeconds }]) => {
    const { r: remaining, t: resetSeconds } = states.get(name) ?? {};
    return limit === undefined ||
      windowSeconds === undefined ||
      remaining === undefined ||
      resetSeconds === undefined
      ? []
      : [{ name, limit, remaining, windowSeconds, resetSeconds }];
  });
}

/** Items of a structured list (RFC 9651) that are strings with whole numbers as parameters. */
function readItems(field: string | null): Map<string, Record<string, number>> {
  const items = (field ?? '').matchAll(/"([^"]*)"((?:\s*;\s*[a-z]+=\d+)*)/g);
  return new Map(
    [...items].map(([, name, parameters]) => [
      name!,
      Object.fromEntries(
        [...parameters!.matchAll(/\b([a-z]+)=(\d+)/g)].map(([, key, value]) => [key!, Number(value)]),
      ),
    ]),
  );
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date as some proxies send it.
 * @param now milliseconds of unix time
 * @returns whole seconds from now, at least 0; undefined without the field
 */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const field = headers.get('retry-after');
  const date = field === null ? NaN : Date.parse(field);
  return (
    wholeNumber(field) ?? (Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1_000)))
  );
}

function wholeNumber(field: string | null): number | undefined {
  return field !== null && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}

const LINK = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]+))/g;

/** Targets of a `Link` field (RFC 8288) by relation, unchanged; the first one of each relation. */
export function readLinks(headers: Headers): Map<string, string> {
  const links = new Map<string, string>();
  for (const [, target, parameters] of (headers.get('link') ?? '').matchAll(LINK)) {
    const read = [...parameters!.matchAll(PARAMETER)];
    const [, , quoted, bare] = read.find(([, name]) => name!.toLowerCase() === 'rel') ?? [];
    for (const relation of (quoted ?? bare ?? '').split(/\s+/)) {
      if (relation !== '' && !links.has(relation)) {
        links.set(relation, target!);
      }
    }
  }
  return links;
}

/**
 * The cursor of the next page; undefined on the last page. Only the cursor is taken from the link: the key must not be
 * sent to another host, and the service may not know the path prefix of a proxy.
 */
export function nextCursor(headers: Headers): string | undefined {
  const target = readLinks(headers).get('next');
  const query = target?.split('#', 1)[0]!.split('?').slice(1).join('?');
  return new URLSearchParams(query).get('cursor') ?? undefined;
}
