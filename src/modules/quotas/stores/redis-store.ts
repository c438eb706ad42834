import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RepeatingTask } from '#libs/background';
import type { Clock } from '#libs/clock';
import type { QuotaStatus, Step, TakenRequest } from '../rules/decision';
import { newWindows, type Windows } from '../rules/limits';
import { MemoryStore } from './memory-store';
import type { QuotaRecords } from './quota-records';
import { type Given, toStatus } from './quota-script';
import { type LimitedClient, type LimitedKey, QuotaStore } from './quota-store';
import type { RedisConnection } from './redis-connection';

/** How often Redis is probed while it works, and while it does not. A request that fails is followed by a probe at once. */
const PROBE_MS = 1_000;
const RETRY_MS = 250;
/**
 * After so many failed probes in a row, two seconds at most, the connection is replaced. It may lead to what is a replica now, or
 * to a machine that is gone: neither ends it.
 */
const PROBES_OF_A_CONNECTION = 4;
/** For so many clients it is remembered that Redis has been given the database's counts. Other clients are compared again. */
const MAX_COMPARED = 200_000;
const PROBE: LimitedClient = { key: null, tracker: 'address:probe', limits: { perMinute: 1, perDay: null } };

/**
 * Counts in Redis, shared with the other instances. While Redis is unavailable, each instance counts its own share of the
 * limits in memory. It logs this and switches back on its own. No request fails because of Redis, and none is unlimited.
 */
export class RedisStore extends QuotaStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private readonly local: MemoryStore;
  /** Part of every key: stores may share a Redis. */
  private storeId = '';
  /**
   * The database's counts of a client, or null once Redis has been given these counts. A Redis that was unavailable may have
   * come back with an older file.
   */
  private readonly stored = new LRUCache<number, { windows: Promise<Windows> | null }>({ max: MAX_COMPARED });
  private failedProbes = 0;
  /** Also of requests that Redis answered too late, without an outage. */
  private hasCountedAlone = false;
  private readonly prober = new RepeatingTask({
    name: 'Probing Redis',
    work: () => this.probe(),
    everyMs: () => (this.isDegraded ? RETRY_MS : PROBE_MS),
  });

  constructor(
    private readonly connection: RedisConnection,
    records: QuotaRecords,
    private readonly clock: Clock,
    private readonly instances: number,
  ) {
    super(records);
    this.local = new MemoryStore(records, clock, instances, true);
    connection.onConnect = () => this.stored.clear();
  }

  /** Resolves when Redis is used, or is known to be unavailable. */
  async onModuleInit(): Promise<void> {
    this.storeId = await this.records.storeId();
    await this.prober.start().runNow();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prober.stop();
    this.connection.close();
    this.local.onModuleDestroy();
  }

  async step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<QuotaStatus> {
    const isShared = !this.isDegraded && !taken?.isLocal;
    const shared = isShared ? await this.stepInRedis(client, step, taken) : null;
    if (shared !== null) {
      this.local.startFrom(client, shared.counted);
      return shared;
    }
    this.hasCountedAlone = true;
    // What was taken in Redis cannot be refunded here.
    const isElsewhere = step === 'refund' && !taken!.isLocal;
    const alone = await this.local.step(client, isElsewhere ? 'read' : step, taken);
    alone.isLocal = true;
    return alone;
  }

  /** @returns null if Redis has failed; a failure of the database is one of the request */
  private async stepInRedis(
    client: LimitedClient,
    step: Step,
    taken?: TakenRequest,
  ): Promise<QuotaStatus | null> {
    const ask = async (windows?: Given['windows']) =>
      this.ask(client, step, taken?.takenAt, windows).catch(() => {
        this.prober.wake();
        return undefined;
      });
    const stored = client.key && this.storedOf(client.key);
    let answer = await ask(stored?.windows ? await stored.windows : undefined);
    if (answer === null) {
      answer = await ask(await this.records.windowsOf(client.key!));
    }
    if (answer && stored) stored.windows = null;
    return answer ? toStatus(answer, client, this.clock.now()) : null;
  }

  /** Reads the database's counts of a client once, for all requests until the next connection to Redis. */
  private storedOf(key: LimitedKey): { windows: Promise<Windows> | null } {
    const known = this.stored.get(key.clientId);
    if (known !== undefined) return known;
    const windows = this.records.windowsOf(key);
    const stored = { windows };
    this.stored.set(key.clientId, stored);
    windows.catch(() => this.stored.delete(key.clientId));
    return stored;
  }

  /** @returns an `Answer`, or null if it has to be given the windows of the client, as the database has them */
  private async ask(
    { key, tracker, limits }: LimitedClient,
    step: Step,
    takenAt?: number,
    windows = key === null ? newWindows() : undefined,
  ): Promise<string | null> {
    const given: Given = {
      now: this.clock.now(),
      step,
      limits: { minute: limits.perMinute, day: limits.perDay ?? undefined },
      takenAt,
      key: key === null ? undefined : { ban: key.ban, resetAt: key.resetAt },
      windows,
    };
    // The braces are a hash tag, so that all keys of a client are on one node of a cluster.
    const prefix = `petstore:${this.storeId}:{${tracker}}`;
    const keys: [string, string] = [`${prefix}:counts`, `${prefix}:ban:${key?.id}`];
    return (await this.connection.run(keys, JSON.stringify(given))) as string | null;
  }

  private async probe(): Promise<void> {
    try {
      await this.connection.open();
      // A step that writes, because a replica refuses only those.
      await this.ask(PROBE, 'take');
      this.failedProbes = 0;
      if (this.isDegraded) {
        // Also a warning, so that a log of warnings shows when an outage ended.
        this.logger.warn('Redis is back: limits are shared again.');
      }
      if (this.hasCountedAlone) {
        this.local.clear();
        this.stored.clear();
      }
      this.hasCountedAlone = false;
      this.isDegraded = false;
    } catch (error) {
      this.failedProbes += 1;
      if (this.failedProbes % PROBES_OF_A_CONNECTION === 0) {
        this.connection.close();
      }
      if (!this.isDegraded) {
        const reason = (error as Error).message.replace(/\.$/, '');
        const share = `this instance counts alone, with 1/${this.instances} of every limit`;
        this.logger.warn(`Redis is unavailable (${reason}): ${share}.`);
        this.records.flushSoon();
      }
      this.isDegraded = true;
    }
  }
}
