import type { PetStoreError } from './errors.ts';
import { failureFrom } from './failures.ts';
import type { Configuration } from './options.ts';

/** One call of an operation with all its attempts: its request and its remaining waiting time. */
export class Call {
  readonly idempotencyKey?: string;
  private leftMs: number;

  /** @param operation method and path of the document */
  constructor(
    readonly operation: string,
    readonly request: Request,
    private readonly configuration: Configuration,
  ) {
    this.leftMs = configuration.maxWaitSeconds * 1_000;
    // Every POST supports `Idempotency-Key`, and no other method does.
    if (request.method === 'POST') {
      this.idempotencyKey = request.headers.get('idempotency-key') ?? configuration.newIdempotencyKey();
      request.headers.set('Idempotency-Key', this.idempotencyKey);
    }
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  /**
   * Waits, if the call has enough time left.
   * @throws the failure immediately if it has not; the signal's reason if the call is aborted
   */
  async pause(milliseconds: number, failure: PetStoreError): Promise<void> {
    if (milliseconds > this.leftMs) {
      throw failure;
    }
    this.leftMs -= milliseconds;
    await this.configuration.sleep(milliseconds, this.signal);
  }

  /**
   * Sends the request once and reads the whole response, so that a broken connection fails here.
   * @throws PetStoreError `no_answer` without a complete response
   */
  async attempt(): Promise<{ response: Response; text: string }> {
    const { attemptTimeoutSeconds, fetch } = this.configuration;
    const attempt = new AbortController();
    // A body can be sent only once, so each attempt gets a copy.
    const request = new Request(this.request.clone(), { signal: attempt.signal });
    // Refers to the request: otherwise Node collects it as garbage while it waits, as it does with AbortSignal.timeout(),
    // and its signal never aborts.
    const abort = (): void => {
      if (!request.signal.aborted) {
        attempt.abort();
      }
    };
    const silence = setTimeout(abort, attemptTimeoutSeconds * 1_000);
    this.signal.addEventListener('abort', abort);
    try {
      this.signal.throwIfAborted();
      const response = await fetch(request);
      return { response, text: await response.text() };
    } catch (cause) {
      this.signal.throwIfAborted();
      const message = `${this.operation} got no response.`;
      const { operation, idempotencyKey } = this;
      throw failureFrom({ code: 'no_answer', message, status: 0, operation, idempotencyKey }, { cause });
    } finally {
      clearTimeout(silence);
      this.signal.removeEventListener('abort', abort);
    }
  }
}
