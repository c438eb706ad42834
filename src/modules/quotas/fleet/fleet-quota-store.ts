import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { CircuitBreaker } from './circuit-breaker';
import type { Clock } from '#libs/clock';
import type { ClientSubject, Subject } from '../counting/subject';
import { KnownRefusals } from '../counting/known-refusals';
import { QuotaStore, type Receipt, type Standing, type Taken } from '../counting/quota-store';
import type { RedisQuotaStore } from './redis-quota-store';
import { RedisUnavailableError } from './script-calls';

const FAILURES = 3;
const PROBE_MS = 250;

/**
 * Counts in Redis, shared with the other instances. While Redis is unavailable, each instance counts its own share of the
 * limits. It logs this and switches back on its own. No request fails because of Redis, and none is unlimited.
 */
export class FleetQuotaStore extends QuotaStore implements OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly breaker: CircuitBreaker;
  private readonly refusals = new KnownRefusals();
  /** True if requests were counted in Redis since this instance last counted alone. */
  private togetherSince = true;
  /** Subjects that were counted alone and not yet marked stale in Redis, by key id. */
  private readonly countedAlone = new Map<number, ClientSubject>();
  private lastFailure: unknown;

  constructor(
    private readonly client: Redis | Cluster,
    private readonly together: RedisQuotaStore,
    private readonly alone: QuotaStore,
    private readonly clock: Clock,
    private readonly instances: number,
  ) {
    super();
    this.breaker = new CircuitBreaker({
      failures: FAILURES,
      probeMs: PROBE_MS,
      probe: async () => {
        await together.probe();
        // First Redis must learn what was counted alone, above all bans.
        await this.settle();
      },
      onChange: (open) => this.log(open),
    });
    client.on('error', () => undefined);
    client.on('close', () => this.breaker.open());
  }

  /** True while this instance counts alone. */
  override isDegraded(): boolean {
    return this.breaker.isOpen;
  }

  take(subject: Subject): Taken | Promise<Taken> {
    return this.refusals.find(subject, this.clock.now()) ?? this.takeUnknown(subject);
  }

  async refund(subject: Subject, taken: Receipt): Promise<Standing> {
    if (taken.takenAlone) {
      return this.alone.refund(subject, taken);
    }
    return this.answer(
      () => this.together.refund(subject, taken),
      () => this.alone.look(subject),
    );
  }

  async look(subject: Subject): Promise<Standing> {
    return this.answer(
      () => this.together.look(subject),
      () => this.alone.look(subject),
    );
  }

  async reloadBans(keyId?: number): Promise<void> {
    await this.alone.reloadBans(keyId);
    await this.updateRedis(() => this.together.reloadBans(keyId));
    // Only now: before, Redis would still have returned the old ban.
    this.refusals.forgetAll();
  }

  async reloadResets(clientId?: number): Promise<void> {
    await this.alone.reloadResets(clientId);
    await this.updateRedis(() => this.together.reloadResets(clientId));
  }

  async reloadDays(): Promise<void> {
    await this.alone.reloadDays();
    await this.updateRedis(() => this.together.reloadDays());
  }

  override onModuleDestroy(): void {
    this.alone.onModuleDestroy?.();
  }

  async flush(): Promise<boolean> {
    const written = await Promise.all([this.together.flush(), this.alone.flush()]);
    return written.every(Boolean);
  }

  onApplicationShutdown(): void {
    this.breaker.stop();
    this.client.disconnect();
  }

  private takeUnknown(subject: Subject): Promise<Taken> {
    const taken = this.answer<Taken>(
      () => this.together.take(subject),
      () => this.takeAlone(subject),
    );
    return taken.then((decision) => {
      if (!decision.takenAlone) {
        this.refusals.remember(subject, decision, this.clock.now());
      }
      return decision;
    });
  }

  // No async/await: each await on the hot path costs every request.
  private answer<Result>(
    together: () => Promise<Result>,
    alone: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (this.breaker.isOpen) {
      return Promise.resolve(alone());
    }
    const attempt = this.breaker.attempt();
    return together().then(
      (result) => {
        this.noteSuccess();
        return result;
      },
      (error: unknown) => {
        // If the database fails, the response is 503; that is no reason to count alone.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        this.lastFailure = error.cause;
        this.breaker.failed(attempt);
        return alone();
      },
    );
  }

  private noteSuccess(): void {
    this.breaker.succeeded();
    this.togetherSince = true;
    if (this.countedAlone.size > 0) {
      // After a single slow response the circuit stays closed, so the probe does not settle it.
      this.settle().catch(() => undefined);
    }
  }

  /** Changes made elsewhere must reach Redis; the caller retries until they do. */
  private async updateRedis(work: () => Promise<void>): Promise<void> {
    if (this.breaker.isOpen) {
      throw new RedisUnavailableError('the circuit is open');
    }
    await work();
  }

  /** Reloads days and bans if other instances may have counted since this one last counted alone. */
  private async takeAlone(subject: Subject): Promise<Taken> {
    if (this.togetherSince) {
      this.togetherSince = false;
      await this.alone.reloadDays();
    }
    if (subject.kind === 'client') {
      this.countedAlone.set(subject.keyId, subject);
    }
    return { ...(await this.alone.take(subject)), takenAlone: true };
  }

  /** Makes Redis reload the days and bans of subjects that were counted alone. */
  private async settle(): Promise<void> {
    const owed = [...this.countedAlone.values()];
    this.countedAlone.clear();
    try {
      await this.together.markStale(owed);
    } catch (error) {
      owed.forEach((subject) => this.countedAlone.set(subject.keyId, subject));
      throw error;
    }
  }

  private log(open: boolean): void {
    if (open) {
      const cause = this.lastFailure instanceof Error ? ` (${this.lastFailure.message})` : '';
      this.logger.warn(
        `Redis is unavailable${cause}: this instance counts alone, with 1/${this.instances} of every limit.`,
      );
    } else {
      this.lastFailure = undefined;
      // Also a warning, so that a log of warnings shows when an outage ended.
      this.logger.warn('Redis is back: limits are shared again.');
    }
  }
}
