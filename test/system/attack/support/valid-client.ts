import type { ServiceProcess } from '../../../support/service-process';

export interface Served {
  statuses: Record<number, number>;
  /** Requests a second. */
  rate: number;
  slowestMs: number;
}

/** A client with a valid key that goes on with its work, one request after another, whatever others do. */
export class ValidClient {
  private running = true;
  private readonly statuses: Record<number, number> = {};
  private slowestMs = 0;
  private readonly startedAt = performance.now();
  private readonly work: Promise<void>;

  constructor(
    private readonly service: ServiceProcess,
    private readonly key: string,
  ) {
    this.work = this.goOn();
    // A failure is told of by stop(); until then nobody looks at it.
    this.work.catch(() => undefined);
  }

  /** @throws whatever a request failed with */
  async stop(): Promise<Served> {
    this.running = false;
    await this.work;
    const seconds = (performance.now() - this.startedAt) / 1_000;
    const answers = Object.values(this.statuses).reduce((sum, count) => sum + count, 0);
    const { statuses, slowestMs } = this;
    return { statuses, rate: Math.round(answers / seconds), slowestMs: Math.round(slowestMs) };
  }

  private async goOn(): Promise<void> {
    while (this.running) {
      const sentAt = performance.now();
      const answer = await this.service.send(this.key, 'GET', '/pets');
      await answer.arrayBuffer();
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
    }
  }
}
