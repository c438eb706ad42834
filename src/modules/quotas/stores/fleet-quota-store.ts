import { once } from 'node:events';
import { Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { type Clock, RepeatingTask } from '#libs/clock';
import type { MemoryQuotaStore } from './memory-quota-store';
import {
  type Change,
  type ClientSubject,
  QuotaStore,
  type Receipt,
  type RedisState,
  type Standing,
  type Subject,
  type Taken,
} from './quota-store';
import type { RedisQuotaStore } from './redis-quota-store';
import { evictionPolicyOf, explainRedis } from './redis-connection';
import { RefusalCache } from './refusal-cache';
import { RedisUnavailableError } from './script-calls';

/** Pause between two probes of a Redis that is unavailable. */
const PROBE_MS = 250;
/** How long the start waits for a Redis that neither answers nor refuses: longer than a connection may take. */
const START_MS = 2_500;

/**
 * Counts in Redis, shared with the other instances. While Redis is unavailable, each instance counts its own share of the
 * limits in memory. It logs this and switches back on its own. No request fails because of Redis, and none is unlimited.
 *
 * Probes alone decide which: a lost connection or a failed request starts one.
 */
export class FleetQuotaStore extends QuotaStore implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly refusals: RefusalCache;
  /** Degraded until a probe has reached Redis, and again from the first one that does not. */
  override redis: RedisState = { isDegraded: true };
  /** Whether a probe is due. */
  private isInDoubt = true;
  private isClosed = false;
  private readonly prober = new RepeatingTask({
    name: 'Probing Redis',
    work: () => (this.isInDoubt ? this.probe() : undefined),
    everyMs: PROBE_MS,
  });
  /** What was logged in this outage. */
  private readonly told = new Set<string>();
  /** True if requests were counted in Redis since this instance last counted locally. */
  private sharedSince = true;
  /** Subjects that were counted locally and are not yet marked stale in Redis, by key id. */
  private readonly countedLocally = new Map<number, ClientSubject>();

  constructor(
    private readonly client: Redis | Cluster,
    private readonly shared: RedisQuotaStore,
    private readonly local: MemoryQuotaStore,
    clock: Clock,
    private readonly instances: number,
  ) {
    super();
    this.refusals = new RefusalCache(clock);
    client.on('close', () => this.countLocally());
  }

  /** Resolves when Redis is used, or is known to be unavailable. */
  async start(): Promise<this> {
    if (this.client.status !== 'ready') {
      await once(this.client, 'ready', { signal: AbortSignal.timeout(START_MS) }).catch(() => undefined);
    }
    await this.prober.start().runNow();
    return this;
  }

  take(subject: Subject): Taken | Promise<Taken> {
    return this.refusals.takeUnlessKnown(subject, () =>
      this.answer<Taken>(
        () => this.shared.take(subject),
        () => this.takeLocally(subject),
      ),
    );
  }

  async refund(subject: Subject, taken: Receipt): Promise<Standing> {
    if (taken.takenLocally) {
      return this.local.refund(subject, taken);
    }
    return this.answer(
      () => this.shared.refund(subject, taken),
      () => this.local.look(subject),
    );
  }

  look(subject: Subject): Promise<Standing> {
    return this.answer<Standing>(
      () => this.shared.look(subject),
      () => this.local.look(subject),
    );
  }

  /** Rejects until the change has reached Redis; the caller retries. */
  async reload(change: Change): Promise<void> {
    await this.local.reload(change);
    if (this.redis.isDegraded) {
      throw new RedisUnavailableError('It does not answer probes.');
    }
    await this.shared.reload(change);
    // Only now: before, Redis would still have returned the old ban.
    this.refusals.clear();
  }

  flush(): Promise<boolean> {
    return this.local.flush();
  }

  onModuleDestroy(): void {
    this.local.onModuleDestroy();
  }

  onApplicationShutdown(): void {
    this.isClosed = true;
    void this.prober.stop();
    this.client.disconnect();
  }

  // No async/await: each await on the hot path costs every request.
  private answer<Result>(
    shared: () => Promise<Result>,
    local: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (this.redis.isDegraded) {
      return Promise.resolve(local());
    }
    return shared().then(
      (result) => {
        this.sharedSince = true;
        return result;
      },
      (error: unknown) => {
        // If the database fails, the response is 503; that is no reason to count locally.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        this.isInDoubt = true;
        void this.prober.runNow();
        return local();
      },
    );
  }

  private async probe(): Promise<void> {
    // ioredis gives up for good when Sentinels announce a failover while it connects.
    if (this.client.status === 'end' && !this.isClosed) {
      this.client.connect().catch(() => undefined);
    }
    try {
      await this.shared.probe();
      // First Redis must learn what was counted locally, above all bans.
      await this.settle();
    } catch (error) {
      this.countLocally((error as Error).cause);
      return;
    }
    // What was counted locally in the meantime is settled next time.
    this.isInDoubt = this.countedLocally.size > 0;
    if (this.redis.isDegraded && !this.isClosed) {
      if (this.told.size > 0) {
        this.told.clear();
        // Also a warning, so that a log of warnings shows when an outage ended.
        this.logger.warn('Redis is back: limits are shared again.');
      }
      this.note({ isDegraded: false });
      await this.checkEviction();
    }
  }

  private countLocally(cause?: unknown): void {
    if (this.isClosed) {
      return;
    }
    this.isInDoubt = true;
    this.tellFailure(cause);
    if (!this.redis.isDegraded) {
      this.note({ isDegraded: true });
    }
  }

  private note(change: Partial<RedisState>): void {
    this.redis = { ...this.redis, ...change };
    this.onChange();
  }

  /** Logs why Redis is unavailable: once for each outage, and again if it is there but refuses this instance. */
  private tellFailure(cause: unknown): void {
    const { reason, lasting } = explainRedis(this.client, cause);
    if (this.told.size === 0 || (lasting && !this.told.has(reason))) {
      this.told.add(reason);
      const share = `this instance counts alone, with 1/${this.instances} of every limit`;
      this.logger.warn(`Redis is unavailable (${reason}): ${share}.`);
    }
  }

  /** A Redis that evicts counters lets clients start again. */
  private async checkEviction(): Promise<void> {
    // Without the right to ask, nothing is known.
    const evictionPolicy = await evictionPolicyOf(this.client).catch(() => undefined);
    if (evictionPolicy !== this.redis.evictionPolicy) {
      this.note({ evictionPolicy });
      if (evictionPolicy !== undefined) {
        this.logger.warn(
          `Redis may evict counters, so clients may get more than their limit: its maxmemory-policy is ${evictionPolicy}. Set it to noeviction.`,
        );
      }
    }
  }

  /** Reloads days and bans if other instances may have counted since this one last counted locally. */
  private async takeLocally(subject: Subject): Promise<Taken> {
    if (this.sharedSince) {
      this.sharedSince = false;
      await this.local.reload({});
    }
    if (subject.kind === 'client') {
      this.countedLocally.set(subject.keyId, subject);
    }
    return { ...(await this.local.take(subject)), takenLocally: true };
  }

  /** Makes Redis reload the days and bans of subjects that were counted locally. */
  private async settle(): Promise<void> {
    const owed = [...this.countedLocally.values()];
    this.countedLocally.clear();
    try {
      await this.shared.markStale(owed);
    } catch (error) {
      owed.forEach((subject) => this.countedLocally.set(subject.keyId, subject));
      throw error;
    }
  }
}
