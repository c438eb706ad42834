import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../support/eventually';

const WORKERS = 8;
/** Mostly waits: it is steady while instances stop and start, and leaves them the processors. */
const PAUSE_MS = 150;

/** Clients that go on reading and ordering through one address, and send nothing twice. */
export class SteadyTraffic {
  /** Whatever was not answered as it should be. */
  readonly failures: string[] = [];
  orders = 0;
  private answered = 0;
  private stopped = false;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly petId: number,
  ) {}

  start(): void {
    this.running = Promise.all(Array.from({ length: WORKERS }, () => this.work()));
  }

  /** Waits until that many more requests are answered. */
  async goOn(requests: number): Promise<void> {
    const enough = this.answered + requests;
    await until(() => this.answered >= enough);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async work(): Promise<void> {
    while (!this.stopped) {
      await this.send('GET', '/pets?limit=5', 200);
      await this.send('POST', '/store/orders', 201, { petId: this.petId });
      this.orders += 1;
      await sleep(PAUSE_MS);
    }
  }

  private async send(method: string, target: string, expected: number, body?: object): Promise<void> {
    const headers = { 'X-API-Key': this.key, 'Content-Type': 'application/json' };
    try {
      const answer = await fetch(`${this.url}${target}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      if (answer.status !== expected) {
        this.failures.push(`${method} ${target} ${answer.status} ${text}`);
      }
    } catch (error) {
      this.failures.push(`${method} ${target} ${String((error as Error).cause ?? error)}`);
    }
    this.answered += 1;
  }
}
