import { Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import type { Decision, QuotaStatus } from '../rules/decision';
import type { MemoryQuotaStore } from './memory-quota-store';
import { type LimitedClient, QuotaStore, type TakenRequest } from './quota-store';
import type { RedisConnection } from './redis-connection';
import { type RedisQuotaStore, RedisUnavailableError } from './redis-quota-store';

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
export class RedisWithLocalFallback extends QuotaStore implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  /** True if requests were counted in Redis since this instance last counted locally. */
  private hasShared = true;
  private failedProbes = 0;
  private readonly prober = new RepeatingTask({
    name: 'Probing Redis',
    work: () => this.probe(),
    everyMs: () => (this.isDegraded ? RETRY_MS : PROBE_MS),
  });

  constructor(
    private readonly connection: RedisConnection,
    private readonly shared: RedisQuotaStore,
    private readonly local: MemoryQuotaStore,
    private readonly instances: number,
  ) {
    super();
  }

  /** Resolves when Redis is used, or is known to be unavailable. */
  async start(): Promise<this> {
    await this.prober.start().runNow();
    return this;
  }

  take(client: LimitedClient): Promise<Decision> {
    return this.inRedisOr<Decision>(
      () => this.shared.take(client),
      () => this.takeLocally(client),
    );
  }

  async refund(client: LimitedClient, taken: TakenRequest): Promise<QuotaStatus> {
    if (taken.takenLocally) {
      return this.local.refund(client, taken);
    }
    return this.inRedisOr(
      () => this.shared.refund(client, taken),
      () => this.local.read(client),
    );
  }

  read(client: LimitedClient): Promise<QuotaStatus> {
    return this.inRedisOr(
      () => this.shared.read(client),
      () => this.local.read(client),
    );
  }

  flush(): Promise<void> {
    return this.local.flush();
  }

  onModuleDestroy(): void {
    this.local.onModuleDestroy();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prober.stop();
    this.connection.close();
  }

  private async inRedisOr<Result>(
    inRedis: () => Promise<Result>,
    locally: () => Promise<Result>,
  ): Promise<Result> {
    if (!this.isDegraded) {
      try {
        const result = await inRedis();
        this.hasShared = true;
        return result;
      } catch (error) {
        // If the database fails, the response is 503; that is no reason to count locally.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        void this.prober.runNow();
      }
    }
    return locally();
  }

  private async takeLocally(client: LimitedClient): Promise<Decision> {
    if (this.hasShared) {
      this.hasShared = false;
      this.local.rereadDays();
    }
    return { ...(await this.local.take(client)), takenLocally: true };
  }

  private async probe(): Promise<void> {
    try {
      await this.connection.open();
      // A step that writes, because a replica refuses only those.
      await this.shared.take(PROBE);
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
