import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { CircuitBreaker } from '#libs/circuit-breaker';
import type { Clock } from '#libs/clock';
import type { Decision } from '../decision';
import type { Limits } from '../rate-window';
import type { Subject } from '../subject';
import { KnownRefusals } from './known-refusals';
import type { MemoryQuotaStore } from '../store/memory-quota-store';
import { QuotaStore, type Standing } from '../store/quota-store';
import { RedisUnavailableError, type RedisQuotaStore } from './redis-quota-store';

const FAILURES = 3;
const PROBE_MS = 250;

/** What one of several instances may let through by itself: its share, and one at least. */
export function shareOf({ perMinute, perDay }: Limits, instances: number): Limits {
  const share = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { perMinute: share(perMinute), perDay: perDay === null ? null : share(perDay) };
}

/**
 * Counts together with the other instances through Redis. While Redis is away each goes on alone with its share, says
 * so, and comes back by itself: never unlimited, and no request fails for it.
 */
export class FleetQuotaStore extends QuotaStore implements OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly breaker: CircuitBreaker;
  private readonly refusals = new KnownRefusals();
  /** Requests counted alone, to be handed back where they were taken. */
  private readonly takenAlone = new WeakSet<Subject>();
  /** For each known set of limits the share of it, so that a request allocates none. */
  private readonly shares = new WeakMap<Limits, Limits>();

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
      probe: () => client.ping(),
      onChange: (open) => this.tell(open),
    });
    client.on('error', () => undefined);
    client.on('close', () => this.breaker.open());
  }

  /** True while this instance counts alone. */
  override isDegraded(): boolean {
    return this.breaker.isOpen;
  }

  async take(subject: Subject): Promise<Decision> {
    const known = this.refusals.find(subject, this.clock.now());
    if (known) {
      return known;
    }
    return this.answer(
      async () => {
        const decision = await this.together.take(subject);
        this.refusals.remember(subject, decision, this.clock.now());
        return decision;
      },
      () => {
        this.takenAlone.add(subject);
        return this.alone.take(this.withShare(subject));
      },
    );
  }

  async handBack(subject: Subject, takenAt: number): Promise<Standing> {
    if (this.takenAlone.has(subject)) {
      return this.alone.handBack(this.withShare(subject), takenAt);
    }
    return this.answer(
      () => this.together.handBack(subject, takenAt),
      () => this.alone.look(this.withShare(subject)),
    );
  }

  async look(subject: Subject): Promise<Standing> {
    return this.answer(
      () => this.together.look(subject),
      () => this.alone.look(this.withShare(subject)),
    );
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
      try {
        const result = await together();
        this.breaker.succeeded();
        return result;
      } catch (error) {
        // A database that cannot be asked is no reason to count alone: the request is answered 503.
        if (!(error instanceof RedisUnavailableError)) {
          throw error;
        }
        this.breaker.failedOnce();
      }
    }
    return alone();
  }

  private withShare(subject: Subject): Subject {
    let share = this.shares.get(subject.limits);
    if (!share) {
      share = shareOf(subject.limits, this.instances);
      this.shares.set(subject.limits, share);
    }
    return { ...subject, limits: share };
  }

  private tell(open: boolean): void {
    if (open) {
      this.logger.warn(`Redis is away: this instance counts alone, with 1/${this.instances} of every limit.`);
    } else {
      this.logger.log('Redis is back: limits are counted together again.');
    }
  }
}
