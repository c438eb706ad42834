import { Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { CircuitBreaker } from '#libs/circuit-breaker';
import type { Clock } from '#libs/clock';
import { MINUTE_MS } from '../rate-window';
import type { Subject } from '../subject';
import { KnownRefusals } from './known-refusals';
import type { MemoryQuotaStore } from '../store/memory-quota-store';
import { QuotaStore, type Receipt, type Standing, type Taken } from '../store/quota-store';
import { RedisUnavailableError, type RedisQuotaStore } from './redis-quota-store';

const FAILURES = 3;
const PROBE_MS = 250;

/** Counts made alone are gone on with when Redis leaves again within this time, or each leave would begin a new minute. */
const SAME_OUTAGE_MS = MINUTE_MS;

/**
 * Counts together with the other instances through Redis. While Redis is away each goes on alone with its share, says
 * so, and comes back by itself: never unlimited, and no request fails for it.
 */
export class FleetQuotaStore extends QuotaStore implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly breaker: CircuitBreaker;
  private readonly refusals = new KnownRefusals();
  /** When a request was last counted alone. */
  private aloneAt = -Infinity;
  private lastFailure: unknown;

  constructor(
    private readonly client: Redis | Cluster,
    private readonly together: RedisQuotaStore,
    private readonly alone: MemoryQuotaStore,
    private readonly clock: Clock,
    private readonly instances: number,
  ) {
    super();
    this.breaker = new CircuitBreaker({
      failures: FAILURES,
      probeMs: PROBE_MS,
      probe: async () => {
        await together.probe();
        // Before anything is counted together again, what was counted alone must be known there, bans above all.
        await together.doubt(alone.known());
      },
      onChange: (open) => this.tell(open),
    });
    client.on('error', () => undefined);
    client.on('close', () => this.breaker.open());
  }

  /** True while this instance counts alone. */
  override isDegraded(): boolean {
    return this.breaker.isOpen;
  }

  async take(subject: Subject): Promise<Taken> {
    const known = this.refusals.find(subject, this.clock.now());
    if (known) {
      return known;
    }
    return this.answer<Taken>(
      async () => {
        const decision = await this.together.take(subject);
        this.refusals.remember(subject, decision, this.clock.now());
        return decision;
      },
      async () => {
        this.aloneAt = this.clock.now();
        return { ...(await this.alone.take(subject)), takenAlone: true };
      },
    );
  }

  async handBack(subject: Subject, taken: Receipt): Promise<Standing> {
    if (taken.takenAlone) {
      return this.alone.handBack(subject, taken);
    }
    return this.answer(
      () => this.together.handBack(subject, taken),
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
    await this.answer(
      () => this.together.reloadBans(keyId),
      () => Promise.resolve(),
    );
    // Not before: Redis would have repeated the old ban meanwhile.
    this.refusals.forgetAll();
  }

  async reloadResets(clientId?: number): Promise<void> {
    await this.alone.reloadResets(clientId);
    await this.answer(
      () => this.together.reloadResets(clientId),
      () => Promise.resolve(),
    );
  }

  onModuleDestroy(): void {
    this.alone.onModuleDestroy();
  }

  onApplicationShutdown(): void {
    this.breaker.stop();
    this.client.disconnect();
  }

  private async answer<Result>(
    together: () => Promise<Result>,
    alone: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (!this.breaker.isOpen) {
      const attempt = this.breaker.attempt();
      try {
        const result = await together();
        this.breaker.succeeded();
        return result;
      } catch (error) {
        // A database that cannot be asked is no reason to count alone: the request is answered 503.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        this.lastFailure = error.cause;
        // Already now, and not when the circuit opens: what was counted alone until then would be forgotten.
        this.beginAlone();
        this.breaker.failed(attempt);
      }
    }
    return alone();
  }

  /** What was counted alone in an earlier outage was overtaken by what was counted together since. */
  private beginAlone(): void {
    const now = this.clock.now();
    if (now - this.aloneAt > SAME_OUTAGE_MS) {
      this.alone.forgetAll();
    }
    this.aloneAt = now;
  }

  private tell(open: boolean): void {
    if (open) {
      this.beginAlone();
      const cause = this.lastFailure instanceof Error ? ` (${this.lastFailure.message})` : '';
      this.logger.warn(
        `Redis is away${cause}: this instance counts alone, with 1/${this.instances} of every limit.`,
      );
    } else {
      this.logger.log('Redis is back: limits are counted together again.');
    }
  }
}
