import { Call } from './call.ts';
import { Deprecations } from './deprecations.ts';
import { PetStoreError, readErrorBody } from './errors.ts';
import { failureFrom } from './failures.ts';
import type { Configuration } from './options.ts';
import { type RateLimit, readRateLimit, readRetryAfter } from './rate-limit.ts';
import { RefusalGate } from './refusal-gate.ts';
import { isRepeatable, isWorthRepeating, waitBeforeNext } from './retry-rules.ts';
import { Slots } from './slots.ts';

/** With a valid key it is never counted or refused, so it need not wait. */
const NEVER_REFUSED = 'GET /rate-limit';

/** Sends the requests of one client: waits, retries, and tracks its limits from the responses. */
export class Exchange {
  rateLimit?: RateLimit;
  private readonly gate = new RefusalGate();
  private readonly slots: Slots;
  private readonly deprecations: Deprecations;

  constructor(private readonly configuration: Configuration) {
    this.slots = new Slots(configuration.maxConcurrent);
    this.deprecations = new Deprecations(configuration.onDeprecation);
  }

  /**
   * @param operation method and path of the document
   * @returns a response with a success or 304, read completely
   * @throws PetStoreError for every other outcome; the signal's reason when the caller aborts
   */
  async send(operation: string, request: Request): Promise<Response> {
    const call = new Call(operation, request, this.configuration);
    const repeatable = isRepeatable(request.method, call.idempotencyKey !== undefined);
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
  private async admitted(call: Call, attempt: number): Promise<Response> {
    for (;;) {
      await this.slots.take(call.signal);
      const held = call.operation === NEVER_REFUSED ? undefined : this.gate.held(this.configuration.now());
      if (held === undefined) {
        return await this.attempt(call).finally(() => this.slots.give());
      }
      this.slots.give();
      const wait = waitBeforeNext(held.seconds, attempt, this.configuration.random());
      await call.pause(wait, refusedLike(held.error, call, held.seconds));
    }
  }

  private async attempt(call: Call): Promise<Response> {
    const mark = this.gate.send();
    const { response, text } = await call.attempt();
    const { headers, status } = response;
    const rateLimit = readRateLimit(headers);
    this.rateLimit = rateLimit ?? this.rateLimit;
    this.gate.hear(rateLimit?.remaining, mark);
    this.deprecations.notice(call.operation, headers);
    if (status === 304 || (response.ok && (text === '' || isJson(headers)))) {
      return new Response(text === '' ? null : text, response);
    }
    const error = failureOf(call, response, text);
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

function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get('content-type') ?? '');
}

/** The error of a call that was not sent because it would be refused like an earlier one. */
function refusedLike(refusal: PetStoreError, call: Call, seconds: number): PetStoreError {
  const { operation, idempotencyKey } = call;
  const { code, message, status, rateLimit } = refusal;
  const retryAfterSeconds = Math.ceil(seconds);
  return failureFrom({
    code,
    message,
    status,
    operation,
    retryAfterSeconds,
    rateLimit,
    idempotencyKey,
  });
}

function failureOf(call: Call, { status, headers }: Response, text: string): PetStoreError {
  const { operation, idempotencyKey } = call;
  const body = readErrorBody(text) ?? {
    code: 'unexpected_answer' as const,
    message: `${operation} returned ${status}, but not from the Pet Store service.`,
  };
  return failureFrom({
    ...body,
    status,
    operation,
    idempotencyKey,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(headers, Date.now()),
    rateLimit: readRateLimit(headers),
  });
}
