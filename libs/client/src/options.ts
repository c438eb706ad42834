import { type DeprecationNotice, warnOfDeprecation } from './deprecations.ts';
import type { RateLimitNotice } from './header-fields.ts';

export interface PetStoreOptions {
  /** The address of the service: `https://petstore.example`, with a path prefix if it has one. */
  baseUrl: string;
  /** Sent as `X-API-Key`. It never appears in URLs, errors or printed objects. */
  apiKey: string;
  /** Maximum attempts per call, including the first. Default 4. */
  maxAttempts?: number;
  /** Maximum total waiting time of one call, in seconds. Default 90, longer than a minute window. */
  maxWaitSeconds?: number;
  /** Timeout of one attempt, in seconds. Default 30. */
  attemptTimeoutSeconds?: number;
  /** Maximum concurrent requests. Default 10. */
  maxConcurrent?: number;
  /** Called once for each deprecated operation that is used. Default: a warning of the process, or on the console. */
  onDeprecation?: (notice: DeprecationNotice) => void;
  /** Called each time a request is refused because a limit is exhausted. Default: nothing. */
  onRateLimit?: (notice: RateLimitNotice) => void;
  /** Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Default: `crypto.randomUUID`, which browsers offer only on secure pages. */
  newIdempotencyKey?: () => string;
  /** Milliseconds since any fixed moment. Default: `performance.now`, which clock changes do not affect. */
  now?: () => number;
  /** Resolves after this many milliseconds, or rejects with the signal's reason. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1, for random delays between retries. Default: `Math.random`. */
  random?: () => number;
}

/** Timers are limited to less than 25 days. */
const MAX_SECONDS = 1_000_000;

export type Configuration = Required<PetStoreOptions>;

/** @throws TypeError for an invalid option; the message does not contain the key */
export function configure(options: PetStoreOptions): Configuration {
  // An error from fetch would quote the key.
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
    if (!(value >= 0 && value <= MAX_SECONDS)) {
      throw new TypeError(`${name} must be a number from 0 to ${MAX_SECONDS}.`);
    }
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...DEFAULTS, ...(given as unknown as PetStoreOptions) };
}

/**
 * `localhost:3000` without a scheme parses as a URL, but cannot be requested. In a browser the address may be relative.
 */
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
