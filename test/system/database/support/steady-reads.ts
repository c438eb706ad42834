import type { ApiClient } from '../../../support/api-client';

const WORKERS = 4;

/** Reads lists, one after another from a few connections, until it is ended. */
export class SteadyReads {
  private readonly statuses = new Set<number>();
  private count = 0;
  private ended = false;
  private readonly workers: Promise<void[]>;

  constructor(
    private readonly client: ApiClient,
    private readonly targets: string[],
  ) {
    this.workers = Promise.all(Array.from({ length: WORKERS }, () => this.read()));
  }

  async end(): Promise<{ statuses: number[]; count: number }> {
    this.ended = true;
    await this.workers;
    return { statuses: [...this.statuses], count: this.count };
  }

  private async read(): Promise<void> {
    while (!this.ended) {
      const { status } = await this.client.get(this.targets[this.count % this.targets.length]!);
      this.count += 1;
      this.statuses.add(status);
    }
  }
}
