// What to do after 429, 503 and silence: wait as the service says, and repeat what is safe to repeat.
import { NoAnswer, retryAfterOf } from './errors.ts';

/** An attempt that failed, and how long the SDK waits before the next one. */
export interface Retry {
  /** Method and path: `GET /pets`. */
  operation: string;
  waitSeconds: number;
  /** The HTTP status; 0 without a response. */
  status: number;
  /** For people. */
  reason: string;
}

/** How often a call is attempted, and how long the call waits. */
export interface AttemptOptions {
  /** Attempts per call, including the first. Default 4. */
  maxAttempts?: number | undefined;
  /**
   * Total waiting time of one call between its attempts. Default 90, longer than a minute window. The time for which a 429 of
   * another call holds this call back does not count, but if that time alone is longer than the maximum, this call fails.
   */
  maxWaitSeconds?: number | undefined;
  /** Timeout of one attempt. Default 30. */
  attemptTimeoutSeconds?: number | undefined;
}

export interface RetryOptions extends AttemptOptions {
  /** Called before each wait, so that a program can say that it is waiting. Called once for all calls that a 429 holds back. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Default: the global one, as it is at the time of each call. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** For tests: milliseconds since any fixed moment. */
  now?: (() => number) | undefined;
  /** For tests. */
  sleep?: typeof sleep | undefined;
}

/** More at once could be refused together after the last request that a limit allows, and eleven refusals are a ban. */
const MAX_CONCURRENT = 10;
/** A 429 holds back calls for a minute at most: refusals so far apart add up to no ban, and the plan may have changed. */
const MAX_HOLD_MS = 60_000;
/** Reads that wait for events take no place among the concurrent requests: the service itself limits the number of such reads. */
const WAITS_FOR_EVENTS = /[?&]wait=[1-9]/;

/** The time after a 429 in which no other call is sent. */
interface Hold {
  response: Response;
  text: string;
  since: number;
  until: number;
  isReported: boolean;
}

/** A `fetch` for the requests with one key. It resolves with the last response, and rejects with NoAnswer if there was none. */
export function retryingFetch(
  defaults: RetryOptions,
): (request: Request, ofCall?: AttemptOptions) => Promise<Response> {
  const { onRetry, sleep: pause = sleep, now = () => performance.now() } = defaults;
  const { fetch = (request: Request) => globalThis.fetch(request) } = defaults;
  const enter = placesInOrder(MAX_CONCURRENT);
  let calls = 0;
  let hold: Hold | undefined;

  const report = (request: Request, waitMs: number, status: number, reason: string) => {
    const operation = `${request.method} ${new URL(request.url).pathname}`;
    onRetry?.({ operation, waitSeconds: waitMs / 1_000, status, reason });
  };

  /** The present hold, if it applies to this attempt. The service refuses no `GET /rate-limit` with a valid key. */
  const holdOn = ({ url }: Request, count: number): Hold | undefined =>
    hold &&
    now() < Math.min(hold.until, hold.since + MAX_HOLD_MS) &&
    (count > 1 || !url.endsWith('/rate-limit'))
      ? hold
      : undefined;

  /** Sends a request once a place is free and no hold applies. If a hold takes longer than `maxWaitMs`, resolves with its 429. */
  const attempt = async (
    request: Request,
    { turn, count, maxWaitMs, timeoutMs }: Record<'turn' | 'count' | 'maxWaitMs' | 'timeoutMs', number>,
  ): Promise<{ response: Response; isRefused: boolean }> => {
    for (;;) {
      const leave = WAITS_FOR_EVENTS.test(request.url) ? () => undefined : await enter(turn);
      try {
        request.signal.throwIfAborted();
        if (!holdOn(request, count)) {
          const response = await send(request, fetch, timeoutMs);
          if (response.status === 429) {
            const text = await response.clone().text();
            const { until = 0, isReported = false } = holdOn(request, 2) ?? {};
            const ownUntil = now() + waitBeforeNext(response, count);
            hold = { response, text, since: now(), until: Math.max(until, ownUntil), isReported };
          }
          return { response, isRefused: false };
        }
      } finally {
        leave();
      }
      const held = holdOn(request, count);
      if (held) {
        const waitMs = held.until - now();
        if (waitMs > maxWaitMs) {
          const response = new Response(held.text, held.response);
          response.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)));
          return { response, isRefused: true };
        }
        if (!held.isReported) {
          held.isReported = true;
          report(request, waitMs, 429, 'the response was 429');
        }
        await pause(waitMs, request.signal);
      }
    }
  };

  const attempts = async (request: Request, ofCall: AttemptOptions): Promise<Response> => {
    const maxAttempts = ofCall.maxAttempts ?? defaults.maxAttempts ?? 4;
    const maxWaitMs = (ofCall.maxWaitSeconds ?? defaults.maxWaitSeconds ?? 90) * 1_000;
    const timeoutMs = (ofCall.attemptTimeoutSeconds ?? defaults.attemptTimeoutSeconds ?? 30) * 1_000;
    // A later attempt keeps the turn, so that a call that was refused is sent before younger calls.
    const turn = (calls += 1);
    let leftMs = maxWaitMs;
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(request, { turn, count, maxWaitMs, timeoutMs }).catch(
        (error: unknown) => new NoAnswer(error),
      );
      request.signal.throwIfAborted();
      const { response, isRefused = false } = outcome instanceof NoAnswer ? {} : outcome;
      const status = response?.status ?? 0;
      const waitMs = status === 429 ? hold!.until - now() : waitBeforeNext(response, count);
      leftMs -= waitMs;
      const isLast = isRefused || count >= maxAttempts || leftMs < 0;
      if (isLast || !(await isWorthRepeating(request.method, response))) {
        if (outcome instanceof NoAnswer) throw outcome;
        return outcome.response;
      }
      // The next attempt waits for the end of the hold.
      if (status === 429) continue;
      report(
        request,
        waitMs,
        status,
        outcome instanceof NoAnswer ? outcome.message : `the response was ${status}`,
      );
      await pause(waitMs, request.signal);
    }
  };

  return (request, ofCall = {}) =>
    new Promise((resolve, reject) => {
      // Ends the call also while it waits for its turn.
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true });
      attempts(request, ofCall).then(resolve, reject);
    });
}

/** Admits callers as long as there are free places, the lowest turn first. Resolves with a function that frees the place. */
function placesInOrder(free: number): (turn: number) => Promise<() => void> {
  const waiting: { turn: number; admit: () => void }[] = [];
  return async (turn) => {
    if (free > 0) {
      free -= 1;
    } else {
      await new Promise<void>((admit) => waiting.push({ turn, admit }));
    }
    return () => {
      const [next] = waiting.sort((one, other) => one.turn - other.turn).splice(0, 1);
      if (next) next.admit();
      else free += 1;
    };
  };
}

/** With a longer delay than this, `setTimeout` fires immediately. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Resolves after this many milliseconds, 24 days at most, or rejects with the signal's reason. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, MAX_SLEEP_MS));
    signal.addEventListener('abort', end);
  });
}

/** Sends the request once, and reads the whole response, so that a broken connection fails here. */
async function send(request: Request, fetch: NonNullable<RetryOptions['fetch']>, timeoutMs: number) {
  const silence = new AbortController();
  const attempt = new Request(request.clone(), { signal: silence.signal });
  // Refers to the request: otherwise Node collects it as garbage while it waits, as it does with AbortSignal.timeout(),
  // and its signal never aborts.
  const abort = () =>
    attempt.signal.aborted || silence.abort(new Error(`silence for ${timeoutMs / 1_000} s`));
  const timer = setTimeout(abort, timeoutMs);
  request.signal.addEventListener('abort', abort);
  try {
    const response = await fetch(attempt);
    await response.clone().arrayBuffer();
    return response;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', abort);
  }
}

/**
 * Whether another attempt may succeed and is safe. Without a response the outcome is unknown, and only PATCH is not
 * idempotent: every POST has an Idempotency-Key. Not during a ban: a program should not decide to wait for its end.
 */
async function isWorthRepeating(method: string, response: Response | undefined): Promise<boolean> {
  // The service did nothing after a 429. An attempt whose response was lost may still run; its response is stored.
  if (response?.status === 429) return true;
  if (response?.status === 409) return (await response.clone().text()).includes('"idempotency_in_progress"');
  return method !== 'PATCH' && (!response || [502, 503, 504].includes(response.status));
}

/**
 * Milliseconds until the next attempt: `Retry-After` plus a random delay, so that clients refused together do not return
 * together. Its range doubles from 0.5 s to 10 s with each attempt; without `Retry-After`, at least half of it.
 */
function waitBeforeNext(response: Response | undefined, count: number): number {
  const spread = Math.min(500 * 2 ** (count - 1), 10_000);
  const seconds = response && retryAfterOf(response.headers);
  return seconds === undefined
    ? (spread * (1 + Math.random())) / 2
    : seconds * 1_000 + spread * Math.random();
}
