import { Call, type CallInput, type Operation } from './call.ts';
import type { ApiResponse } from './results.ts';
import {
  PetStoreError,
  type RateLimit,
  failureOf,
  readDeprecation,
  readRateLimit,
  refusedLike,
} from './responses.ts';
import type { Configuration } from './options.ts';

/** With a valid key it is never counted or refused, so it need not wait. */
const NEVER_REFUSED = 'GET /rate-limit';

/** More at once could be refused together after the last request that a limit allows, and eleven refusals are a ban. */
const MAX_CONCURRENT = 10;

/** Sends the requests of one client: waits, retries, and tracks its limits from the responses. */
export class Exchange {
  rateLimit?: RateLimit;
  private readonly limiter = new ConcurrencyLimiter(MAX_CONCURRENT);
  private readonly reportedDeprecations = new Set<string>();
  /**
   * Holds all requests back after a 429 until its `Retry-After` has passed. Earlier ones would be refused as well, and
   * the service bans a key at the eleventh refusal.
   */
  private refusal?: { error: PetStoreError; until: number };
  private refusals = 0;

  constructor(private readonly configuration: Configuration) {}

  /**
   * @returns the body of a success; undefined for one without a body, such as 304
   * @throws PetStoreError for every other outcome; the signal's reason when the caller aborts
   */
  async send(operation: Operation, input: CallInput): Promise<ApiResponse<unknown>> {
    const call = new Call(operation, input, this.configuration);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.admitted(call, attempt);
      } catch (error) {
        const last = attempt >= this.configuration.maxAttempts;
        if (last || !(error instanceof PetStoreError) || !isWorthRepeating(error, operation.method)) {
          throw error;
        }
        await call.pause(
          waitBeforeNext(error.retryAfterSeconds, attempt, this.configuration.random()),
          error,
        );
      }
    }
  }

  /** Makes one attempt as soon as a slot is free and no refusal delays it. */
  private async admitted(call: Call, attempt: number): Promise<ApiResponse<unknown>> {
    for (;;) {
      await this.limiter.acquire(call.signal);
      const seconds = ((this.refusal?.until ?? 0) - this.configuration.now()) / 1_000;
      if (this.refusal === undefined || seconds <= 0 || call.operation === NEVER_REFUSED) {
        return await this.attempt(call).finally(() => this.limiter.release());
      }
      this.limiter.release();
      const wait = waitBeforeNext(seconds, attempt, this.configuration.random());
      await call.pause(wait, refusedLike(this.refusal.error, call, seconds));
    }
  }

  private async attempt(call: Call): Promise<ApiResponse<unknown>> {
    const { refusals } = this;
    const { response, text } = await call.attempt();
    const { headers, status, ok } = response;
    const rateLimit = readRateLimit(headers);
    this.rateLimit = rateLimit ?? this.rateLimit;
    // A larger plan applies immediately. Responses to requests that were sent before the refusal say nothing of it.
    if (rateLimit !== undefined && rateLimit.remaining > 0 && refusals === this.refusals) {
      this.refusal = undefined;
    }
    this.reportDeprecation(call.operation, headers);
    const data = readJson(headers, text);
    if (status === 304 || (ok && (text === '' || data !== undefined))) {
      return { data, response };
    }
    const error = failureOf(call, response, data);
    if (status === 429) {
      this.holdBack(error);
    }
    throw error;
  }

  private holdBack(error: PetStoreError): void {
    this.refusals += 1;
    const until = this.configuration.now() + (error.retryAfterSeconds ?? 0) * 1_000;
    if (this.refusal === undefined || until > this.refusal.until) {
      this.refusal = { error, until };
    }
  }

  /** Once for each operation. */
  private reportDeprecation(operation: string, headers: Headers): void {
    const notice = readDeprecation(operation, headers);
    if (notice !== undefined && !this.reportedDeprecations.has(operation)) {
      this.reportedDeprecations.add(operation);
      this.configuration.onDeprecation(notice);
    }
  }
}

/** Limits concurrent requests; the others wait in order. */
export class ConcurrencyLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /**
   * Waits for a slot; `release` returns it.
   * @throws the signal's reason when it is aborted first
   */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(admit), 1);
        reject(signal.reason as Error);
      };
      this.waiting.push(admit);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.free += 1;
    } else {
      next();
    }
  }
}

/** The body of a response; undefined if it is not JSON. */
function readJson(headers: Headers, text: string): unknown {
  if (!/^application\/json\b/i.test(headers.get('content-type') ?? '')) {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parts of a failed attempt that decide about another one. */
export interface Failure {
  code: string;
  /** The HTTP status; 0 without a response. */
  status: number;
}

const FIRST_SPREAD_MS = 500;
const MAX_SPREAD_MS = 10_000;

/** Statuses of a service or proxy that could not serve the request just now. */
const UNAVAILABLE = new Set([502, 503, 504]);

/**
 * Whether another attempt may succeed and is safe. Not during a ban: a program should not decide to wait for its end.
 * @param method in capitals
 */
export function isWorthRepeating({ code, status }: Failure, method: string): boolean {
  // The service did nothing after a 429. An attempt whose response was lost may still run; its response is stored.
  if (status === 429 || code === 'idempotency_in_progress') {
    return true;
  }
  // Without a response the outcome is unknown. Only PATCH is not idempotent: every POST has an Idempotency-Key.
  return method !== 'PATCH' && (code === 'no_answer' || UNAVAILABLE.has(status));
}

/**
 * How long to wait before the next attempt: the `Retry-After` of the service plus a random delay, whose range doubles
 * with each attempt, so that clients refused together do not return together. Without `Retry-After`, the wait is at
 * least half of that range.
 * @param attempt the attempt that failed, from 1
 * @param random from 0 to below 1
 * @returns milliseconds
 */
export function waitBeforeNext(
  retryAfterSeconds: number | undefined,
  attempt: number,
  random: number,
): number {
  const spread = Math.min(FIRST_SPREAD_MS * 2 ** (attempt - 1), MAX_SPREAD_MS);
  return retryAfterSeconds === undefined
    ? (spread * (1 + random)) / 2
    : retryAfterSeconds * 1_000 + spread * random;
}
