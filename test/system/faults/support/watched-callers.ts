import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient } from '../../../support/api-client';
import { until, within } from '../../../support/eventually';

interface Sent {
  worker: number;
  method: string;
  /** 0 without a response. */
  status: number;
  retryAfter: string | null;
}

/** Callers who read and write without a pause, and remember how they were answered. */
export class WatchedCallers {
  readonly sent: Sent[] = [];
  private stopped = false;
  private readonly running: Promise<unknown>;

  /** @param count how many; every other one writes */
  constructor(
    private readonly caller: ApiClient,
    private readonly count = 8,
  ) {
    this.running = Promise.all(Array.from({ length: count }, (_none, worker) => this.work(worker)));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await within('the last answers', this.running);
  }

  get created(): number {
    return this.sent.filter(({ status }) => status === 201).length;
  }

  get unavailable(): Sent[] {
    return this.sent.filter(({ status }) => status === 503);
  }

  /** What was neither a success nor 503 with a time to wait. */
  get refusedOtherwise(): Sent[] {
    return this.sent.filter(
      ({ status, retryAfter }) => !isServed(status) && !(status === 503 && retryAfter !== null),
    );
  }

  async untilUnavailable(): Promise<void> {
    await until(() => this.unavailable.length > 0);
  }

  /** Waits for such an answer to a request that was sent from now on. */
  async untilAnswered(method: string, status: number): Promise<void> {
    const before = new Set(this.sent);
    await until(() =>
      this.sent.some((one) => !before.has(one) && one.method === method && one.status === status),
    );
  }

  /** Waits until each of them is served. */
  async untilServed(): Promise<void> {
    const { length } = this.sent;
    await until(() => {
      const served = this.sent.slice(length).filter(({ status }) => isServed(status));
      return new Set(served.map(({ worker }) => worker)).size === this.count;
    });
  }

  private async work(worker: number): Promise<void> {
    const method = worker % 2 === 0 ? 'POST' : 'GET';
    while (!this.stopped) {
      const outcome = await this.send(method);
      this.sent.push({ worker, method, ...outcome });
      // Refusals come so quickly that their callers would take the processor from everybody else.
      await sleep(isServed(outcome.status) ? 2 : 20);
    }
  }

  private async send(method: 'POST' | 'GET'): Promise<Pick<Sent, 'status' | 'retryAfter'>> {
    try {
      const answer: Answer<unknown> =
        method === 'POST'
          ? await this.caller.post('/categories', { name: 'Dogs' })
          : await this.caller.get('/pets');
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    } catch (failure) {
      // Nothing is refused in such a way; what it was is shown when the test fails.
      return { status: 0, retryAfter: String(failure) };
    }
  }
}

const isServed = (status: number) => status >= 200 && status < 300;
