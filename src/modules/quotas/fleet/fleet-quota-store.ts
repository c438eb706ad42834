import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { CircuitBreaker } from '#libs/circuit-breaker';
import type { Clock } from '#libs/clock';
import type { ClientSubject, Subject } from '../counting/subject';
import { KnownRefusals } from './known-refusals';
import { QuotaStore, type Receipt, type Standing, type Taken } from '../counting/quota-store';
import type { RedisQuotaStore } from './redis-quota-store';
import { RedisUnavailableError } from './script-calls';

const FAILURES = 3;
const PROBE_MS = 250;

/**
 * Counts together with the other instances through Redis. While Redis is away each goes on alone with its share, says
 * so, and comes back by itself: never unlimited, and no request fails for it.
 */
export class FleetQuotaStore extends QuotaStore implements OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly breaker: CircuitBreaker;
  private readonly refusals = new KnownRefusals();
  /** True when something was counted together after this instance last counted alone. */
  private togetherSince = true;
  /** Clients counted alone of whom Redis does not know yet, by key. */
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
        // Before anything is counted together again, what was counted alone must be known there, bans above all.
        await this.settle();
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
    await this.tellRedis(() => this.together.reloadBans(keyId));
    // Not before: Redis would have repeated the old ban meanwhile.
    this.refusals.forgetAll();
  }

  async reloadResets(clientId?: number): Promise<void> {
    await this.alone.reloadResets(clientId);
    await this.tellRedis(() => this.together.reloadResets(clientId));
  }

  async reloadDays(): Promise<void> {
    await this.alone.reloadDays();
    await this.tellRedis(() => this.together.reloadDays());
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

  // Without async and await: every wait of the hot path costs each request.
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
        // A database that cannot be asked is no reason to count alone: the request is answered 503.
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
      // One slow answer opens no circuit, and nobody else would tell Redis of what was counted alone then.
      this.settle().catch(() => undefined);
    }
  }

  /** What others have changed has to reach Redis; who asks for it tries again until it does. */
  private async tellRedis(work: () => Promise<void>): Promise<void> {
    if (this.breaker.isOpen) {
      throw new RedisUnavailableError('the circuit is open');
    }
    await work();
  }

  /** What was counted together since this instance last counted alone is not known here: days and bans are read again. */
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

  /** Has Redis ask for the days and bans of those who were counted alone. */
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

  private tell(open: boolean): void {
    if (open) {
      const cause = this.lastFailure instanceof Error ? ` (${this.lastFailure.message})` : '';
      this.logger.warn(
        `Redis is away${cause}: this instance counts alone, with 1/${this.instances} of every limit.`,
      );
    } else {
      this.lastFailure = undefined;
      // As loud as its beginning, or a log of warnings would tell of outages without an end.
      this.logger.warn('Redis is back: limits are counted together again.');
    }
  }
}
