import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient } from '../../../support/api-client';
import { until } from '../../../support/eventually';

interface Sent {
  worker: number;
  method: string;
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
    await this.running;
  }

  get created(): number {
    return this.sent.filter(({ status }) => status === 201).length;
  }

  get unavailable(): Sent[] {
    return this.sent.filter(({ status }) => status === 503);
  }

  /** Answers that are neither a success nor 503 with a time to wait. */
  get refusedOtherwise(): Sent[] {
    return this.sent.filter(
      ({ status, retryAfter }) => status >= 300 && !(status === 503 && retryAfter !== null),
    );
  }

  async untilUnavailable(): Promise<void> {
    await until(() => this.unavailable.length > 0);
  }

  /** Waits for such an answer to a request that was sent from now on. */
  async untilAnswered(method: string, status: number): Promise<void> {
    const before = new Set(this.sent);
    await until(() =>
      this.sent.some((one) => one.method === method && one.status === status && !before.has(one)),
    );
  }

  /** Waits until each of them is served. */
  async untilServed(): Promise<void> {
    const { length } = this.sent;
    await until(() => {
      const served = this.sent.slice(length).filter(({ status }) => status < 300);
      return new Set(served.map(({ worker }) => worker)).size === this.count;
    });
  }

  private async work(worker: number): Promise<void> {
    const writes = worker % 2 === 0;
    while (!this.stopped) {
      const answer: Answer<unknown> = writes
        ? await this.caller.post('/categories', { name: 'Dogs' })
        : await this.caller.get('/pets');
      const { status, headers } = answer;
      const retryAfter = headers.get('retry-after');
      const method = writes ? 'POST' : 'GET';
      this.sent.push({ worker, method, status, retryAfter });
      // Refusals come so quickly that their callers would take the processor from everybody else.
      await sleep(status < 300 ? 2 : 20);
    }
  }
}
