import { NoAnswer, retryAfterOf } from './errors.ts';

export interface Retry {
  operation: string;
  waitSeconds: number;
  status: number;
  reason: string;
}

export interface AttemptOptions {
  /** Maximum number of attempts per call, including the first attempt. Default: 4. */
  maxAttempts?: number | undefined;
  /**
   * Maximum total seconds that a call waits between attempts. Default: 90, so that a call can wait for the end of the
   * minute to which the service's rate limit applies.
   */
  maxWaitSeconds?: number | undefined;
  /** Timeout of one attempt in seconds. Default: 30. */
  attemptTimeoutSeconds?: number | undefined;
}

export interface RetryOptions extends AttemptOptions {
  /** Called before each wait, so that a program can report the wait. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** For tests: replaces the clock. `now` returns milliseconds since any fixed moment. */
  now?: (() => number) | undefined;
  sleep?: typeof sleep | undefined;
}

/**
 * Maximum number of requests that run at the same time. If the service refuses all of them with 429, at most ten
 * requests are refused. If more than ten requests were refused, the service would ban the API key.
 */
const MAX_CONCURRENT = 10;
/**
 * After a 429, other calls wait at most this many milliseconds, even if `Retry-After` is longer, because the operator
 * may raise the rate limit meanwhile.
 */
const MAX_HOLD_MS = 60_000;
/**
 * Matches the address of a request that waits for events. Such a request does not count towards MAX_CONCURRENT, because
 * the service has a limit of its own for requests that wait for events.
 */
const WAITS_FOR_EVENTS = /[?&]wait=[1-9]/;

/**
 * The pause after a 429. During the pause, no request is sent, except a first attempt of `GET /rate-limit`, which the service
 * answers whatever the limits are. If this attempt fails, later attempts wait as well (see `mustWait`).
 */
interface Hold {
  response: Response;
  text: string;
  since: number;
  until: number;
  isReported: boolean;
}

/** The outcome of one attempt, and how many milliseconds to wait before another attempt. */
interface Attempt {
  outcome: Response | NoAnswer;
  waitMs: number;
}

/**
 * True if an attempt waits until the pause after a 429 is over. A first attempt of `GET /rate-limit` does not wait, because
 * rate limits do not apply to this operation if the key is valid. A later attempt waits, because if the key is not valid,
 * the first attempt may have been refused with 429.
 * @param count number of the attempt, from 1
 */
function mustWait({ url }: Request, count: number): boolean {
  return count > 1 || !url.endsWith('/rate-limit');
}

/**
 * Returns a `fetch` with retries, for one API key. The returned function rejects with NoAnswer if the last attempt got
 * no response. Inside, the function `sendWithRetries` repeats a request that has failed. For each attempt, the function
 * `sendInTurn` waits until a request may be sent, and the function `sendNow` sends the request.
 */
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

  /** After a 429, all calls pause until their requests are accepted again. Returns this pause, or undefined if it is over. */
  const currentHold = (): Hold | undefined =>
    hold && now() < Math.min(hold.until, hold.since + MAX_HOLD_MS) ? hold : undefined;

  /** Sends a request. If the response is 429, begins or extends the pause. */
  const sendNow = async (request: Request, count: number, timeoutMs: number): Promise<Attempt> => {
    const response = await send(request, fetch, timeoutMs);
    if (response.status !== 429) {
      return { outcome: response, waitMs: waitBeforeNext(response, count) };
    }
    const text = await response.clone().text();
    const { until = 0, isReported = false } = currentHold() ?? {};
    const ownUntil = now() + waitBeforeNext(response, count);
    hold = { response, text, since: now(), until: Math.max(until, ownUntil), isReported };
    return { outcome: response, waitMs: hold.until - now() };
  };

  /**
   * Waits until fewer than MAX_CONCURRENT requests run and the pause after an earlier 429 response is over. Then sends the
   * request. If the pause is longer than `maxWaitMs`, returns that earlier 429 response and does not send the request.
   */
  const sendInTurn = async (
    request: Request,
    {
      callNumber,
      count,
      maxWaitMs,
      timeoutMs,
    }: Record<'callNumber' | 'count' | 'maxWaitMs' | 'timeoutMs', number>,
  ): Promise<Attempt> => {
    for (;;) {
      const leave = WAITS_FOR_EVENTS.test(request.url) ? () => undefined : await enter(callNumber);
      let held: Hold | undefined;
      try {
        request.signal.throwIfAborted();
        held = mustWait(request, count) ? currentHold() : undefined;
        if (!held) return await sendNow(request, count, timeoutMs);
      } finally {
        leave();
      }
      const waitMs = held.until - now();
      if (waitMs > maxWaitMs) {
        const response = new Response(held.text, held.response);
        response.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)));
        return { outcome: response, waitMs };
      }
      if (!held.isReported) {
        held.isReported = true;
        report(request, waitMs, 429, 'the response was 429');
      }
      await pause(waitMs, request.signal);
    }
  };

  const sendWithRetries = async (request: Request, ofCall: AttemptOptions): Promise<Response> => {
    const maxAttempts = ofCall.maxAttempts ?? defaults.maxAttempts ?? 4;
    const maxWaitMs = (ofCall.maxWaitSeconds ?? defaults.maxWaitSeconds ?? 90) * 1_000;
    const timeoutMs = (ofCall.attemptTimeoutSeconds ?? defaults.attemptTimeoutSeconds ?? 30) * 1_000;
    // All attempts of a call have the same number, so that a call that was refused is sent again before newer calls.
    const callNumber = (calls += 1);
    let leftMs = maxWaitMs;
    for (let count = 1; ; count += 1) {
      const { outcome, waitMs } = await sendInTurn(request, {
        callNumber,
        count,
        maxWaitMs,
        timeoutMs,
      }).catch((error: unknown): Attempt => ({
        outcome: new NoAnswer(error),
        waitMs: waitBeforeNext(undefined, count),
      }));
      request.signal.throwIfAborted();
      const response = outcome instanceof NoAnswer ? undefined : outcome;
      leftMs -= waitMs;
      if (count >= maxAttempts || leftMs < 0 || !(await isWorthRepeating(request.method, response))) {
        if (outcome instanceof NoAnswer) throw outcome;
        return outcome;
      }
      const status = response?.status ?? 0;
      // After a 429, do not wait here: `sendInTurn` waits until calls may be sent again.
      if (status === 429) continue;
      const reason = outcome instanceof NoAnswer ? outcome.message : `the response was ${status}`;
      report(request, waitMs, status, reason);
      await pause(waitMs, request.signal);
    }
  };

  return (request, ofCall = {}) =>
    new Promise((resolve, reject) => {
      // Reject when the signal aborts, also while the call is still waiting to be sent.
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true });
      sendWithRetries(request, ofCall).then(resolve, reject);
    });
}

/**
 * Returns a function that lets at most `free` calls run at a time; of the waiting calls, the call with the lowest
 * number runs first. The returned function resolves when a call may run, with a function to call at the end of that
 * call.
 */
function placesInOrder(free: number): (callNumber: number) => Promise<() => void> {
  const waiting: { callNumber: number; admit: () => void }[] = [];
  return async (callNumber) => {
    if (free > 0) {
      free -= 1;
    } else {
      await new Promise<void>((admit) => waiting.push({ callNumber, admit }));
    }
    return () => {
      const [next] = waiting.sort((one, other) => one.callNumber - other.callNumber).splice(0, 1);
      if (next) next.admit();
      else free += 1;
    };
  };
}

/** Maximum delay of `setTimeout` in milliseconds. With a longer delay, `setTimeout` fires immediately. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/**
 * Resolves after this many milliseconds, but at most after 24 days. Rejects with the signal's reason if the signal
 * aborts.
 */
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

/**
 * Sends a request and reads the whole response. If the connection breaks while the body arrives, the attempt fails, so
 * that it can be repeated.
 */
async function send(request: Request, fetch: NonNullable<RetryOptions['fetch']>, timeoutMs: number) {
  const silence = new AbortController();
  const attempt = new Request(request.clone(), { signal: silence.signal });
  // `abort` reads `attempt.signal`, so that the timer keeps a reference to the object `attempt`. If nothing refers to this
  // object, Node deletes it during the request, and then the signal `silence` no longer aborts the request.
  const abort = () =>
    attempt.signal.aborted || silence.abort(new Error(`timeout after ${timeoutMs / 1_000} s`));
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
 * True if another attempt may succeed and is safe. Another attempt of a POST is safe, because the service executes a
 * POST only once for each Idempotency-Key. A PATCH has no such key, so another attempt of a PATCH is not safe.
 */
async function isWorthRepeating(method: string, response: Response | undefined): Promise<boolean> {
  // Repeat after a 429, because the service has not executed the request. Repeat after a 409 with the code
  // `idempotency_in_progress`, too. With this code, an earlier attempt of the same POST is still running, and a later
  // attempt gets its response.
  if (response?.status === 429) return true;
  if (response?.status === 409) return (await response.clone().text()).includes('"idempotency_in_progress"');
  return method !== 'PATCH' && (!response || [502, 503, 504].includes(response.status));
}

/**
 * Returns the milliseconds until the next attempt. A part of the time is random (jitter), so that programs whose
 * requests were refused together do not all try again at the same moment.
 */
function waitBeforeNext(response: Response | undefined, count: number): number {
  const spread = Math.min(500 * 2 ** (count - 1), 10_000);
  const seconds = response && retryAfterOf(response.headers);
  return seconds === undefined
    ? (spread * (1 + Math.random())) / 2
    : seconds * 1_000 + spread * Math.random();
}
