/** The caller's rate limit, as reported by one response. */
export interface RateLimit {
  /** Requests allowed by the window with the fewest remaining. */
  limit: number;
  /** Requests left in that window. */
  remaining: number;
  /** When that window resets, according to the service's clock. */
  resetAt: Date;
}

/** A call of a deprecated operation. */
export interface DeprecationNotice {
  /** Method and path of the document: `GET /pets/{petId}`. */
  operation: string;
  /** When it was deprecated (RFC 9745). */
  since?: Date;
  /** From when it may be removed (RFC 8594). */
  sunset?: Date;
  /** Its replacement, from the `Link` with `rel="successor-version"` (RFC 5829). */
  successor?: string;
}

/** @returns undefined for a response without `X-RateLimit-Limit`, `-Remaining` and `-Reset` (unix seconds) */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    wholeNumber(headers.get(`x-ratelimit-${name}`)),
  );
  return limit === undefined || remaining === undefined || reset === undefined
    ? undefined
    : { limit, remaining, resetAt: new Date(reset * 1_000) };
}

/** The seconds of `Retry-After`. */
export function readRetryAfter(headers: Headers): number | undefined {
  return wholeNumber(headers.get('retry-after'));
}

function wholeNumber(field: string | null): number | undefined {
  return field !== null && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}

/** @returns undefined for an operation that is not deprecated */
export function readDeprecation(operation: string, headers: Headers): DeprecationNotice | undefined {
  if (!headers.has('deprecation')) {
    return undefined;
  }
  const since = /^@(\d{1,12})$/.exec(headers.get('deprecation')!)?.[1];
  const sunset = new Date(headers.get('sunset') ?? NaN);
  return {
    operation,
    since: since === undefined ? undefined : new Date(Number(since) * 1_000),
    sunset: Number.isNaN(sunset.getTime()) ? undefined : sunset,
    successor: linkTo('successor-version', headers),
  };
}

/**
 * The cursor of the next page; undefined on the last page. Only the cursor is taken from the link: the key must not be
 * sent to another host, and the service may not know the path prefix of a proxy.
 */
export function nextCursor(headers: Headers): string | undefined {
  const [, query] = linkTo('next', headers)?.split('?') ?? [];
  return new URLSearchParams(query).get('cursor') ?? undefined;
}

/** The target of a `Link` field (RFC 8288), as the service writes it: `</pets?cursor=a>; rel="next"`. */
function linkTo(relation: string, headers: Headers): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^<>]*)>;\s*rel="([^"]*)"/g);
  return [...links].find(([, , name]) => name === relation)?.[1];
}
