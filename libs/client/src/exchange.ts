import type { ApiResponse } from './api-promise.ts';
import { ConcurrencyLimiter, RefusalGate } from './admission.ts';
import { Call, type CallInput, type OperationId } from './call.ts';
import { Deprecations } from './deprecations.ts';
import { PetStoreError } from './errors.ts';
import { failureOf, refusedLike } from './failures.ts';
import { type RateLimit, readRateLimit } from './header-fields.ts';
import type { Configuration } from './options.ts';
import { isRepeatable, isWorthRepeating, waitBeforeNext } from './retry-rules.ts';

/** With a valid key it is never counted or refused, so it need not wait. */
const NEVER_REFUSED = 'GET /rate-limit';

/** Sends the requests of one client: waits, retries, and tracks its limits from the responses. */
export class Exchange {
  rateLimit?: RateLimit;
  private readonly gate = new RefusalGate();
  private readonly limiter: ConcurrencyLimiter;
  private readonly deprecations: Deprecations;

  constructor(private readonly configuration: Configuration) {
    this.limiter = new ConcurrencyLimiter(configuration.maxConcurrent);
    this.deprecations = new Deprecations(configuration.onDeprecation);
  }

  /**
   * @returns the body of a success; undefined for one without a body, such as 304
   * @throws PetStoreError for every other outcome; the signal's reason when the caller aborts
   */
  async send(id: OperationId, input: CallInput): Promise<ApiResponse<unknown>> {
    const call = new Call(id, input, this.configuration);
    const repeatable = isRepeatable(call.method, call.idempotencyKey !== undefined);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.admitted(call, attempt);
      } catch (error) {
        const last = attempt >= this.configuration.maxAttempts;
        if (last || !(error instanceof PetStoreError) || !isWorthRepeating(error, repeatable)) {
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
      const refusal =
        call.operation === NEVER_REFUSED ? undefined : this.gate.closedFor(this.configuration.now());
      if (refusal === undefined) {
        return await this.attempt(call).finally(() => this.limiter.release());
      }
      this.limiter.release();
      const wait = waitBeforeNext(refusal.seconds, attempt, this.configuration.random());
      await call.pause(wait, refusedLike(refusal.error, call, refusal.seconds));
    }
  }

  private async attempt(call: Call): Promise<ApiResponse<unknown>> {
    const { refusals } = this.gate;
    const { response, text } = await call.attempt();
    const { headers, status, ok } = response;
    const rateLimit = readRateLimit(headers);
    this.rateLimit = rateLimit ?? this.rateLimit;
    this.gate.open(rateLimit?.remaining, refusals);
    this.deprecations.notice(call.operation, headers);
    const data = readJson(headers, text);
    if (status === 304 || (ok && (text === '' || data !== undefined))) {
      return { data, response };
    }
    const error = failureOf(call, response, data);
    if (status === 429) {
      this.refused(error);
    }
    throw error;
  }

  private refused(error: PetStoreError): void {
    const { code, operation, retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined) {
      this.gate.close(error, this.configuration.now() + retryAfterSeconds * 1_000);
    }
    this.configuration.onRateLimit({ code, operation, retryAfterSeconds, rateLimit: error.rateLimit });
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
