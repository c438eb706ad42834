import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../../../support/api-client';
import { COUNTED } from '../../../../support/limits';
import type { Pair } from './pair';
import { until } from '../../../../support/eventually';

const MODEST_WORKERS = 4;
const GREEDY_CLIENTS = 4;

/** Of one client, what it was let through by both instances together. */
interface Greed {
  allowed: number;
  /** What either instance let through while it counted alone. */
  allowedAlone: [number, number];
  /** For either instance, whether it counted alone when it refused this client last; null when it has not. */
  refusedAlone: [boolean | null, boolean | null];
}

/** Requests to two instances as long as it runs: of clients that keep within a share, and of greedy ones, all free. */
export class SteadyLoad {
  readonly statuses = new Map<number, number>();
  /** Answers other than 200 to clients that kept within the share. */
  readonly unjust: number[] = [];
  readonly greedy = Array.from(
    { length: GREEDY_CLIENTS },
    (): Greed => ({ allowed: 0, allowedAlone: [0, 0], refusedAlone: [null, null] }),
  );
  private stopped = false;
  private running: Promise<unknown> | undefined;

  constructor(
    private readonly pair: Pair,
    /** What each of the clients that keep within their share sends to either instance. */
    private readonly modestRequests: number,
  ) {}

  start(): void {
    const modest = Array.from({ length: MODEST_WORKERS }, () => this.beModest());
    this.running = Promise.all([...modest, ...this.greedy.map((client) => this.beGreedy(client))]);
  }

  /** Runs on until every greedy client has got all that it can get; rejects when a request fails to be answered. */
  async saturated(): Promise<void> {
    const all = () =>
      this.greedy.every(({ refusedAlone }) =>
        refusedAlone.every((alone, instance) => alone === this.pair.degraded[instance]),
      );
    await Promise.race([this.running, until(all)]);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async beModest(): Promise<void> {
    while (!this.stopped) {
      const { callers } = await this.pair.client({ plan: 'free' });
      for (let request = 0; request < this.modestRequests && !this.stopped; request += 1) {
        const statuses = await Promise.all(callers.map((caller) => this.ask(caller)));
        this.unjust.push(...statuses.filter((status) => status !== 200));
      }
    }
  }

  private async beGreedy(client: Greed): Promise<void> {
    const { callers } = await this.pair.client({ plan: 'free' });
    await Promise.all(callers.map((caller, instance) => this.exhaust(client, caller, instance)));
  }

  private async exhaust(client: Greed, caller: ApiClient, instance: number): Promise<void> {
    while (!this.stopped) {
      const alone = this.pair.degraded[instance]!;
      const status = await this.ask(caller);
      const aloneThroughout = alone && this.pair.degraded[instance]!;
      if (status === 200) {
        client.allowed += 1;
        client.allowedAlone[instance]! += aloneThroughout ? 1 : 0;
      } else {
        client.refusedAlone[instance] = alone;
        await this.changeOf(instance, alone);
      }
    }
  }

  /** Asking on would get the client banned. */
  private async changeOf(instance: number, alone: boolean): Promise<void> {
    while (!this.stopped && this.pair.degraded[instance] === alone) {
      await sleep(5);
    }
  }

  private async ask(caller: ApiClient): Promise<number> {
    const { status } = await caller.get(COUNTED);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return status;
  }
}
