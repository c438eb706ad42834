import { Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import type { Step, StepResult, TakenRequest } from '../rules/decision';
import type { MemoryCounters } from './memory-counters';
import { Counters, type LimitedClient } from './quota-store';
import type { RedisConnection } from './redis-connection';
import { type RedisCounters, RedisUnavailableError } from './redis-counters';

/** How often Redis is probed while it works, and while it does not. A request that fails is followed by a probe at once. */
const PROBE_MS = 1_000;
const RETRY_MS = 250;
/**
 * After so many failed probes in a row, two seconds at most, the connection is replaced. It may lead to what is a replica now, or
 * to a machine that is gone: neither ends it.
 */
const PROBES_OF_A_CONNECTION = 4;
const PROBE: LimitedClient = { key: null, tracker: 'address:probe', limits: { perMinute: 1, perDay: null } };

/**
 * Counts in Redis, shared with the other instances. While Redis is unavailable, each instance counts its own share of the
 * limits in memory. It logs this and switches back on its own. No request fails because of Redis, and none is unlimited.
 */
export class RedisWithLocalFallback extends Counters implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private failedProbes = 0;
  private readonly prober = new RepeatingTask({
    name: 'Probing Redis',
    work: () => this.probe(),
    everyMs: () => (this.isDegraded ? RETRY_MS : PROBE_MS),
  });

  constructor(
    private readonly connection: RedisConnection,
    private readonly shared: RedisCounters,
    private readonly local: MemoryCounters,
    private readonly instances: number,
  ) {
    super();
  }

  /** Resolves when Redis is used, or is known to be unavailable. */
  async start(): Promise<this> {
    await this.prober.start().runNow();
    return this;
  }

  async step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<StepResult> {
    if (!this.isDegraded && !taken?.isLocal) {
      try {
        const result = await this.shared.step(client, step, taken);
        this.local.startFrom(client, result.windows);
        return result;
      } catch (error) {
        // If the database fails, the response is 503; that is no reason to count locally.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        void this.prober.runNow();
      }
    }
    // What was taken in Redis cannot be refunded here.
    const isElsewhere = step === 'refund' && !taken?.isLocal;
    const result = await this.local.step(client, isElsewhere ? 'read' : step, taken);
    return { ...result, isLocal: true };
  }

  onModuleDestroy(): void {
    this.local.onModuleDestroy();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prober.stop();
    this.connection.close();
  }

  private async probe(): Promise<void> {
    try {
      await this.connection.open();
      // A step that writes, because a replica refuses only those.
      await this.shared.step(PROBE, 'take');
      this.failedProbes = 0;
      if (this.isDegraded) {
        // Also a warning, so that a log of warnings shows when an outage ended.
        this.logger.warn('Redis is back: limits are shared again.');
        this.local.clear();
      }
      this.isDegraded = false;
    } catch (error) {
      this.failedProbes += 1;
      if (this.failedProbes % PROBES_OF_A_CONNECTION === 0) {
        this.connection.close();
      }
      if (!this.isDegraded) {
        const cause = error instanceof RedisUnavailableError ? error.cause : error;
        const reason = (cause as Error).message.replace(/\.$/, '');
        const share = `this instance counts alone, with 1/${this.instances} of every limit`;
        this.logger.warn(`Redis is unavailable (${reason}): ${share}.`);
      }
      this.isDegraded = true;
    }
  }
}
