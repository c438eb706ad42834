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
    const silence = AbortSignal.timeout(attemptTimeoutSeconds * 1_000);
    try {
      const signal = AbortSignal.any([this.signal, silence]);
      // A body can be sent only once, so each attempt gets a copy.
      const response = await fetch(new Request(this.request.clone(), { signal }));
      return { response, text: await response.text() };
    } catch (cause) {
      this.signal.throwIfAborted();
      const message = `${this.operation} got no response.`;
      const { operation, idempotencyKey } = this;
      throw failureFrom({ code: 'no_answer', message, status: 0, operation, idempotencyKey }, { cause });
    }
  }
}
