import { setTimeout as sleep } from 'node:timers/promises';

/** It only ends a hang. */
const PATIENCE_MS = 240_000;
const PAUSE_MS = 10;

export interface Request {
  method: string;
  target: string;
  body?: object | undefined;
  /** With a POST: makes it safe to send again. */
  idempotencyKey?: string | undefined;
}

export interface Settled {
  status: number;
  text: string;
  replayed: boolean;
  /** True when it was sent more than once: an earlier one may have been done without an answer. */
  again: boolean;
}

/** Sends each request until it is answered for good, wherever the service is at that moment. */
export class InsistentClient {
  /** Requests that broke off, and answers 503. */
  readonly interruptions = { broken: 0, unavailable: 0 };

  /** @param url where the service is now */
  constructor(
    private readonly url: () => string,
    private readonly apiKey: string,
  ) {}

  /** Rejects when nobody has answered for so long. */
  async settle(request: Request): Promise<Settled> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let again = false; performance.now() < deadline; again = true) {
      const answer = await this.send(request);
      if (answer !== null && !isPassing(answer.status, answer.text)) {
        return { ...answer, again };
      }
      await sleep(PAUSE_MS);
    }
    throw new Error(`${request.method} ${request.target} was not answered in time`);
  }

  private async send({ method, target, body, idempotencyKey }: Request) {
    const headers: Record<string, string> = { 'X-API-Key': this.apiKey };
    if (body) headers['Content-Type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
    try {
      const answer = await fetch(`${this.url()}${target}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      });
      const { status } = answer;
      if (status === 503) this.interruptions.unavailable += 1;
      return { status, text: await answer.text(), replayed: answer.headers.has('idempotent-replayed') };
    } catch {
      this.interruptions.broken += 1;
      return null;
    }
  }
}

/** The database is away, or has not yet noticed that whoever sent this before is gone. */
function isPassing(status: number, text: string): boolean {
  return status === 503 || (status === 409 && text.includes('"idempotency_in_progress"'));
}
