import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RepeatingTask } from '#libs/background';
import type { Clock } from '#libs/clock';
import type { ClientKey } from '../../auth';
import type { Decision, Step } from '../rules/decision';
import type { Windows } from '../rules/limits';
import type { AllowedAlone, AloneCounters } from './alone-counters';
import type { QuotaRecords } from './quota-records';
import { type ScriptArgument, type ScriptStep, toDecision } from './quota-script';
import { type LimitSubject, QuotaCounters } from './quota-counters';
import type { RedisConnection } from './redis-connection';

/**
 * Milliseconds between two probes, which check whether Redis can count requests. While Redis is unavailable, RETRY_MS
 * applies instead.
 */
const PROBE_MS = 1_000;
const RETRY_MS = 250;
/**
 * After this many failed probes in a row, the connection is replaced, because the server may have vanished without
 * closing the connection.
 */
const MAX_FAILED_PROBES = 4;
const MAX_STORED = 200_000;
const PROBE: LimitSubject = { key: null, tracker: 'address:probe', limits: { perMinute: 1, perDay: null } };

/**
 * Counts requests in Redis, where all instances share the counts. While Redis is unavailable, each instance counts in
 * its own memory and allows its share of every limit.
 */
export class RedisCounters extends QuotaCounters implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Quotas');
  private storeId = '';
  /**
   * Counts from the database, by client. After each new connection, the counts of a client are passed to Redis once,
   * because Redis may have restarted with older counts. `windows` is null if Redis has received the counts.
   */
  private readonly stored = new LRUCache<number, { windows: Promise<Windows> | null }, ClientKey>({
    max: MAX_STORED,
    memoMethod: (clientId, _before, { context: key }) => {
      const windows = this.records.windowsOf(key);
      windows.catch(() => this.stored.delete(clientId));
      return { windows };
    },
  });
  private failedProbes = 0;
  /**
   * True if this instance may have counted requests in memory since the last successful probe of Redis. The next
   * successful probe reports these requests to Redis.
   */
  private isReportDue = false;
  private readonly prober = new RepeatingTask({
    name: 'Probing Redis',
    work: () => this.probe(),
    everyMs: () => (this.countsAlone ? RETRY_MS : PROBE_MS),
  });

  constructor(
    private readonly connection: RedisConnection,
    private readonly alone: AloneCounters,
    records: QuotaRecords,
    private readonly clock: Clock,
  ) {
    super(records);
  }

  async onModuleInit(): Promise<void> {
    this.storeId = await this.records.storeId();
    this.connection.onConnect = () => this.stored.clear();
    await this.prober.start().runNow();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prober.stop();
    this.connection.close();
  }

  async apply(subject: LimitSubject, step: Step): Promise<Decision> {
    const taken = typeof step === 'object' ? step.refund : undefined;
    if (!this.countsAlone && !taken?.isCountedAlone) {
      const decision = await this.applyInRedis(subject, step);
      if (decision !== null) {
        this.alone.continueFrom(subject, decision.counted);
        return decision;
      }
    }
    this.isReportDue = true;
    // If Redis has counted the request, the counts in memory do not contain the request. In this case, do not refund
    // the request, and only read the counts in memory.
    return this.alone.apply(subject, taken?.isCountedAlone === false ? 'read' : step);
  }

  /**
   * Counts a request, refunds a request or reads counts in Redis, as `step` says. Redis may first need the client's
   * counts from the database.
   * @returns null if Redis fails
   * @throws the error of the database if the counts in the database cannot be read
   */
  private async applyInRedis(subject: LimitSubject, step: Step): Promise<Decision | null> {
    const askUnlessRedisFails = (stored?: Windows) =>
      this.ask(subject, step, stored).catch(() => {
        this.prober.wake();
        return undefined;
      });
    const entry = subject.key && this.stored.memo(subject.key.clientId, { context: subject.key });
    let answer = await askUnlessRedisFails(entry?.windows ? await entry.windows : undefined);
    if (answer === null) {
      answer = await askUnlessRedisFails(await this.records.windowsOf(subject.key!));
    }
    if (!answer) return null;
    if (entry) entry.windows = null;
    return toDecision(answer, subject, this.clock.now());
  }

  /** Runs the quota script. Returns its `ScriptResult` as JSON, or null if the script needs the counts from the database first. */
  private async ask(
    { key, tracker, limits }: LimitSubject,
    step: ScriptStep,
    stored?: Windows,
  ): Promise<string | null> {
    const given: ScriptArgument = {
      now: this.clock.now(),
      step,
      limits: { minute: limits.perMinute, day: limits.perDay ?? undefined },
      key: key === null ? undefined : { ban: key.ban, resetAt: key.resetAt },
      stored,
    };
    // The braces are a hash tag, so that a cluster keeps all keys of a client on one node.
    const prefix = `petstore:${this.storeId}:{${tracker}}`;
    const keys: [string, string] = [`${prefix}:counts`, `${prefix}:ban:${key?.id}`];
    return (await this.connection.run(keys, JSON.stringify(given))) as string | null;
  }

  /**
   * Adds requests that this instance counted in memory, while Redis was unavailable, to the counts in Redis.
   * @returns the counts in Redis
   */
  private async addToRedis(subject: LimitSubject, allowed: AllowedAlone): Promise<Windows> {
    const step = { report: allowed };
    let answer = await this.ask(subject, step);
    // If Redis has no counts of the client, the answer is null, and Redis has added nothing. In this case, pass the
    // counts from the database, which already contain the requests of this report.
    answer ??= await this.ask(subject, step, await this.records.windowsOf(subject.key!));
    const { counted } = toDecision(answer!, subject, this.clock.now());
    if (subject.key !== null) this.records.count(subject.key.clientId, counted, 0);
    return counted;
  }

  private async probe(): Promise<void> {
    try {
      await this.connection.open();
      // Probe Redis with a write, because a read-only replica would answer a read although the replica cannot count
      // requests.
      await this.ask(PROBE, 'take');
      this.failedProbes = 0;
      if (this.isReportDue) {
        this.isReportDue = false;
        await this.alone.report((subject, allowed) => this.addToRedis(subject, allowed));
        this.stored.clear();
      }
      if (this.countsAlone) {
        // Log the end of the outage as a warning, like its start, so that a log that contains only warnings shows both.
        this.logger.warn('Redis is back: limits are shared again.');
      }
      this.countsAlone = false;
    } catch (error) {
      this.isReportDue = true;
      this.failedProbes += 1;
      if (this.failedProbes % MAX_FAILED_PROBES === 0) {
        this.connection.close();
      }
      if (!this.countsAlone) {
        const reason = (error as Error).message.replace(/\.$/, '');
        const share = `this instance counts alone, with 1/${this.alone.instances} of every limit`;
        this.logger.warn(`Redis is unavailable (${reason}): ${share}.`);
        this.records.flushSoon();
      }
      this.countsAlone = true;
    }
  }
}
