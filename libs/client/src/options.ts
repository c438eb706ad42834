import { type DeprecationNotice, warnOfDeprecation } from './deprecations.ts';
import type { RateLimitNotice } from './rate-limit.ts';

export interface PetStoreOptions {
  /** Where the service is: `https://petstore.example`, with a path when it lives below one. */
  baseUrl: string;
  /** Sent as `X-API-Key`. It is in no URL, no error and nothing that can be printed. */
  apiKey: string;
  /** Attempts of one call at the most, the first included. Default 4. */
  maxAttempts?: number;
  /** Seconds that one call waits at the most, all its waits together. Default 90, which outlasts a minute's limit. */
  maxWaitSeconds?: number;
  /** Seconds after which an attempt counts as not answered. Default 30. */
  attemptTimeoutSeconds?: number;
  /** Requests under way at a time. Default 10: were they all refused, the eleventh, which earns a ban, would not be sent. */
  maxConcurrent?: number;
  /** Called once for each deprecated operation that is used. Default: a warning of the process, or on the console. */
  onDeprecation?: (notice: DeprecationNotice) => void;
  /** Called each time the service refuses a request because a limit is used up. Default: nothing. */
  onRateLimit?: (notice: RateLimitNotice) => void;
  /** Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Default: `crypto.randomUUID`, which browsers have on secure pages only. */
  newIdempotencyKey?: () => string;
  /** Milliseconds since any fixed moment. Default: `performance.now`, which no change of the clock disturbs. */
  now?: () => number;
  /** Ends after so many milliseconds, or rejects with the signal's reason. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1, for the spread of retries. Default: `Math.random`. */
  random?: () => number;
}

/** Timers hold less than 25 days. */
const MOST_SECONDS = 1_000_000;

export type Configuration = Required<PetStoreOptions>;

/** @throws TypeError for an option that cannot work; it does not quote the key */
export function configure(options: PetStoreOptions): Configuration {
  // fetch itself would quote the key in its complaint.
  if (!options.apiKey) {
    throw new TypeError('apiKey is missing.');
  }
  if (typeof options.apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError('apiKey must be printable ASCII without spaces.');
  }
  if (!isWebAddress(options.baseUrl)) {
    throw new TypeError('baseUrl must be an address that begins with http:// or https://.');
  }
  for (const name of ['maxAttempts', 'maxConcurrent'] as const) {
    if (!Number.isSafeInteger(options[name] ?? 1) || options[name]! < 1) {
      throw new TypeError(`${name} must be an integer from 1.`);
    }
  }
  for (const name of ['maxWaitSeconds', 'attemptTimeoutSeconds'] as const) {
    const value = options[name] ?? 0;
    if (!(value >= 0 && value <= MOST_SECONDS)) {
      throw new TypeError(`${name} must be a number from 0 to ${MOST_SECONDS}.`);
    }
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...DEFAULTS, ...(given as unknown as PetStoreOptions) };
}

/** Without its scheme, `localhost:3000` is an address too, of a kind that no request can go to. In a page it may be relative. */
function isWebAddress(text: unknown): boolean {
  const { location } = globalThis as { location?: { href: string } };
  try {
    return typeof text === 'string' && /^https?:$/.test(new URL(text, location?.href).protocol);
  } catch {
    return false;
  }
}

const DEFAULTS: Omit<Configuration, 'baseUrl' | 'apiKey'> = {
  maxAttempts: 4,
  maxWaitSeconds: 90,
  attemptTimeoutSeconds: 30,
  maxConcurrent: 10,
  onDeprecation: warnOfDeprecation,
  onRateLimit: () => undefined,
  fetch: (request) => globalThis.fetch(request),
  newIdempotencyKey: () => crypto.randomUUID(),
  now: () => performance.now(),
  sleep,
  random: Math.random,
};

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    const leave = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
    }
  });
}
