import type { DeprecationNotice } from './responses.ts';

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
  /** Called once for each deprecated operation that is used. Default: a warning of the process, or on the console. */
  onDeprecation?: (notice: DeprecationNotice) => void;
  /** Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds since any fixed moment. Default: `performance.now`, which clock changes do not affect. */
  now?: () => number;
  /** Resolves after this many milliseconds, or rejects with the signal's reason. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1, for random delays between retries. Default: `Math.random`. */
  random?: () => number;
}

export type Configuration = Required<PetStoreOptions>;

/** Timers are limited to less than 25 days. */
const MAX_SECONDS = 1_000_000;

/** @throws TypeError for an invalid option; the message does not contain the key */
export function configure(options: PetStoreOptions): Configuration {
  const { apiKey, baseUrl } = options;
  // An error from fetch would quote the key.
  if (!apiKey) {
    throw new TypeError('apiKey is missing.');
  }
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be printable ASCII without spaces.');
  }
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError('baseUrl must be an address that begins with http:// or https://.');
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

const DEFAULTS = {
  maxAttempts: 4,
  maxWaitSeconds: 90,
  attemptTimeoutSeconds: 30,
  onDeprecation: warnOfDeprecation,
  fetch: (request: Request) => globalThis.fetch(request),
  now: () => performance.now(),
  sleep,
  random: Math.random,
};

/** Issues a deprecation warning of the process, or logs to the console where there is no process. */
function warnOfDeprecation({ operation, sunset, successor }: DeprecationNotice): void {
  const end = sunset === undefined ? '' : ` and may be gone from ${sunset.toISOString().slice(0, 10)}`;
  const instead = successor === undefined ? '' : `; its successor is ${successor}`;
  const message = `Pet Store: ${operation} is deprecated${end}${instead}.`;
  const { process } = globalThis as { process?: { emitWarning?: typeof globalThis.process.emitWarning } };
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'DeprecationWarning', code: 'PETSTORE_DEPRECATION' });
  } else {
    // oxlint-disable-next-line no-console -- A page has no other place for warnings.
    console.warn(message);
  }
}

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
