import type { ApiResponse, ConditionalOptions } from './results.ts';
import { PetStoreError } from './responses.ts';
import type { Configuration } from './options.ts';

/** Where an operation of the document is. */
export interface Operation {
  /** In capitals. */
  method: string;
  path: string;
}

/** What a request is made of. */
export interface CallInput extends Partial<ConditionalOptions> {
  /** Values of the path's parameters by name. */
  path?: Record<string, unknown>;
  query?: object;
  body?: unknown;
}

export type Send = (operation: Operation, input: CallInput) => Promise<ApiResponse<unknown>>;

/** One call of an operation with all its attempts: its request and its remaining waiting time. */
export class Call {
  /** Method and path of the document: `GET /pets/{petId}`. */
  readonly operation: string;
  readonly method: string;
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal;
  private readonly url: string;
  private readonly init: RequestInit;
  private leftMs: number;

  constructor(
    { method, path }: Operation,
    input: CallInput,
    private readonly configuration: Configuration,
  ) {
    this.method = method;
    this.operation = `${method} ${path}`;
    this.signal = input.signal ?? new AbortController().signal;
    this.leftMs = configuration.maxWaitSeconds * 1_000;
    // Every POST supports `Idempotency-Key`, and no other method does.
    if (method === 'POST') {
      this.idempotencyKey = input.idempotencyKey ?? newIdempotencyKey();
    }
    this.url = urlOf(configuration.baseUrl, path, input);
    const fields = {
      'X-API-Key': configuration.apiKey,
      'Content-Type': input.body === undefined ? undefined : 'application/json',
      'Idempotency-Key': this.idempotencyKey,
      'If-Match': input.ifMatch,
      'If-None-Match': input.ifNoneMatch,
    };
    this.init = {
      method,
      headers: Object.entries(fields).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      ),
      body: JSON.stringify(input.body),
      // The service never redirects, and the key must not follow a foreign redirect.
      redirect: 'manual',
    };
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
    const request = new Request(this.url, { ...this.init, signal: attempt.signal });
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
      throw new PetStoreError(
        { code: 'no_answer', message, status: 0, operation, idempotencyKey },
        { cause },
      );
    } finally {
      clearTimeout(silence);
      this.signal.removeEventListener('abort', abort);
    }
  }
}

/** Not `crypto.randomUUID`, which browsers offer only on secure pages. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

type QueryValue = string | number | boolean | (string | number)[] | undefined;

/** Arrays are repeated parameters: `?status=available&status=sold`. */
function urlOf(baseUrl: string, path: string, { path: values = {}, query = {} }: CallInput): string {
  const base = baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl;
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(values[name])));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, QueryValue>)) {
    // An empty array is sent as an empty value, which the service refuses: left out, it would ask for everything.
    const given = Array.isArray(value) && value.length === 0 ? '' : (value ?? []);
    [given].flat().forEach((one) => parameters.append(name, String(one)));
  }
  const search = parameters.toString();
  return `${base}${filled}${search && `?${search}`}`;
}
