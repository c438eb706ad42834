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

export interface RetryOptions {
  /** Attempts per call, including the first. Default 4. */
  maxAttempts?: number | undefined;
  /** Total waiting time of one call. Default 90, longer than a minute window. */
  maxWaitSeconds?: number | undefined;
  /** Timeout of one attempt. Default 30. */
  attemptTimeoutSeconds?: number | undefined;
  /** Called before each wait, so that a program can say that it is waiting. */
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
/** Refusals that far apart never add up to a ban, and the plan may be another by then. */
const MAX_HOLD_MS = 60_000;

/** A `fetch` for the requests with one key. It resolves with the last response, and rejects with NoAnswer if there was none. */
export function retryingFetch(retryOptions: RetryOptions): (request: Request) => Promise<Response> {
  const { maxAttempts = 4, maxWaitSeconds = 90, onRetry, sleep: pause = sleep } = retryOptions;
  const attempt = attemptsInTurn(retryOptions);
  const attempts = async (request: Request): Promise<Response> => {
    let leftMs = maxWaitSeconds * 1_000;
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(request).catch((error: unknown) => new NoAnswer(error));
      request.signal.throwIfAborted();
      const response = outcome instanceof NoAnswer ? undefined : outcome;
      const wait = waitBeforeNext(response, count);
      leftMs -= wait;
      if (count >= maxAttempts || leftMs < 0 || !(await isWorthRepeating(request.method, response))) {
        if (outcome instanceof NoAnswer) throw outcome;
        return outcome;
      }
      const status = response?.status ?? 0;
      const reason = outcome instanceof NoAnswer ? outcome.message : `the response was ${status}`;
      const operation = `${request.method} ${new URL(request.url).pathname}`;
      onRetry?.({ operation, waitSeconds: wait / 1_000, status, reason });
      await pause(wait, request.signal);
    }
  };
  return (request) =>
    new Promise((resolve, reject) => {
      // Ends the call also while it waits for its turn.
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true });
      attempts(request).then(resolve, reject);
    });
}

/** One attempt, in order and ten at a time. After a 429, others are refused without being sent until it has passed. */
function attemptsInTurn({
  fetch = (request) => globalThis.fetch(request),
  now = () => performance.now(),
  ...rest
}: RetryOptions) {
  const waiting: (() => void)[] = [];
  let free = MAX_CONCURRENT;
  let refusal: { response: Response; text: string; at: number; until: number } | undefined;
  return async (request: Request): Promise<Response> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      request.signal.throwIfAborted();
      const heldUntil = refusal ? Math.min(refusal.until, refusal.at + MAX_HOLD_MS) : 0;
      // With a valid key, `GET /rate-limit` is never refused.
      if (refusal && now() < heldUntil && !request.url.endsWith('/rate-limit')) {
        const again = new Response(refusal.text, refusal.response);
        again.headers.set('Retry-After', String(Math.ceil((refusal.until - now()) / 1_000)));
        return again;
      }
      const response = await send(request, fetch, (rest.attemptTimeoutSeconds ?? 30) * 1_000);
      if (response.status === 429) {
        const until = now() + (retryAfterOf(response.headers) ?? 1) * 1_000;
        refusal = { response, text: await response.clone().text(), at: now(), until };
      }
      return response;
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** Resolves after this many milliseconds, or rejects with the signal's reason. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, milliseconds);
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
