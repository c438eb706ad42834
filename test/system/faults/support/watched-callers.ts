import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient } from '../../../support/api-client';
import { until } from '../../../support/service-process';

interface Sent {
  method: string;
  status: number;
  retryAfter: string | null;
  /** In milliseconds of the process's own clock. */
  sentAt: number;
  answeredAt: number;
}

/** Callers who read and write without a pause, and remember how they were answered and how long that took. */
export class WatchedCallers {
  readonly sent: Sent[] = [];
  private stopped = false;
  private readonly running: Promise<unknown>;

  /** @param count how many; every other one writes */
  constructor(
    private readonly caller: ApiClient,
    count = 8,
  ) {
    this.running = Promise.all(Array.from({ length: count }, (_none, index) => this.work(index % 2 === 0)));
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

  /** The longest that anybody waited for an answer, in milliseconds. */
  get slowest(): number {
    return Math.max(...this.sent.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
  }

  async untilUnavailable(patience = 20_000): Promise<void> {
    await until(() => this.unavailable.length > 0, patience);
  }

  /** Waits for an answer to a request that was sent from now on. @returns how long that took from now, in milliseconds */
  async untilAnswered(method: string, status: number, patience = 20_000): Promise<number> {
    const begin = performance.now();
    const found = (): Sent | undefined =>
      this.sent.findLast((one) => one.method === method && one.status === status && one.answeredAt > begin);
    await until(() => found() !== undefined, patience);
    return found()!.answeredAt - begin;
  }

  /** Waits until both readers and writers are served; @returns how long that took, in milliseconds. */
  async untilServed(patience?: number): Promise<number> {
    return Math.max(
      ...(await Promise.all([
        this.untilAnswered('GET', 200, patience),
        this.untilAnswered('POST', 201, patience),
      ])),
    );
  }

  private async work(writes: boolean): Promise<void> {
    while (!this.stopped) {
      const sentAt = performance.now();
      const answer: Answer<unknown> = writes
        ? await this.caller.post('/categories', { name: 'Dogs' })
        : await this.caller.get('/pets');
      const { status, headers } = answer;
      const retryAfter = headers.get('retry-after');
      const method = writes ? 'POST' : 'GET';
      this.sent.push({ method, status, retryAfter, sentAt, answeredAt: performance.now() });
      // Refusals come so quickly that their callers would take the processor from everybody else.
      await sleep(status < 300 ? 2 : 20);
    }
  }
}
