import type { Pool } from 'pg';
import { isSerializationConflict } from '../postgres-errors';
import type { PreparedStatement } from '../prepared';
import { StatementNames } from '../statement-names';
import { ObservedServer } from './observed-server';
import { openReadPool } from './read-pool';
import type { WalHistory } from './wal-history';

/** A replica that may be older than this is not read. */
export const MAX_LAG_MS = 1_000;

/** A replica that answers when it is observed, but fails to read, is left alone for so long; longer each time. */
const FIRST_REST_MS = 250;
const MOST_DOUBLINGS = 6;
/** SQLSTATE of a statement that was given up, here for the time it took. */
const QUERY_CANCELED = '57014';
/** What the pool says when none of its connections became free in time. */
const NO_CONNECTION_FREE = 'timeout exceeded when trying to connect';

export interface ReplicaOptions {
  url: string;
  /** What it is called in logs and metrics. */
  name: string;
  /** The most connections that reads may take. */
  poolSize: number;
  /** Told once for each change: null when it is read from now on, otherwise why it is not. */
  onChange: (name: string, reason: string | null) => void;
}

/** One standby of the primary: observed all the time, and read while it is known to be less than a second behind. */
export class Replica {
  private readonly server: ObservedServer;
  private readonly names = new StatementNames();
  private pool: Pool | null = null;
  private observing = false;
  private isJudged = false;
  private failedReads = 0;
  private restsUntil = -Infinity;
  private closed = false;
  private knowsAllBefore = -Infinity;

  constructor(private readonly options: ReplicaOptions) {
    this.server = new ObservedServer(options.url, (error) => this.lose(error));
  }

  get name(): string {
    return this.options.name;
  }

  /** Everything that was committed by this moment is there; monotonic milliseconds, minus infinity when nothing is known. */
  get freshAsOf(): number {
    return this.knowsAllBefore;
  }

  /** True while lists may be read from it. */
  isUsable(now: number): boolean {
    return this.pool !== null && now - this.knowsAllBefore < MAX_LAG_MS;
  }

  /**
   * Finds out whether it may be read; one question at a time.
   * @param identity of the primary, as the history is
   */
  async observe(history: WalHistory, identity: string): Promise<void> {
    if (this.observing) {
      return;
    }
    this.observing = true;
    try {
      const { standby, position, identity: own } = await this.server.observe();
      if (!standby || own !== identity) {
        this.knowsAllBefore = -Infinity;
        this.leave(standby ? 'it is a standby of another database' : 'it is not a standby');
        return;
      }
      this.knowsAllBefore = history.momentOf(position);
      this.judge(performance.now());
    } catch (error) {
      this.lose(error as Error);
    } finally {
      this.observing = false;
    }
  }

  /** Leaves it when it may be too far behind, and takes it back when it is not. */
  judge(now: number): void {
    const lagMs = now - this.knowsAllBefore;
    if (lagMs >= MAX_LAG_MS) {
      const isKnown = lagMs < Infinity;
      this.leave(isKnown ? `it may be ${(lagMs / 1_000).toFixed(1)} s behind` : 'its lag is not known');
    } else if (now >= this.restsUntil) {
      this.takeBack();
    }
  }

  /** The rows; null when it cannot tell them, within one and a half seconds. */
  async rows<Row extends object>(
    { name, text }: PreparedStatement,
    values: unknown[],
  ): Promise<Row[] | null> {
    const { pool } = this;
    if (pool === null) {
      return null;
    }
    const sent = this.names.current(name);
    try {
      const { rows } = await pool.query<Row>({ name: sent, text, values });
      this.failedReads = 0;
      return rows;
    } catch (error) {
      const isOutdated = this.names.learnFrom(error, name, sent);
      const isPassing = isOutdated || isSerializationConflict(error) || this.isOverloaded(error, pool);
      if (!isPassing && pool === this.pool) {
        this.rest();
        this.lose(error as Error);
      }
      return null;
    }
  }

  /** True when it has more to do than it can, which is no reason to send all of it to the primary at once. */
  private isOverloaded(error: unknown, pool: Pool): boolean {
    const { code, message } = error as { code?: unknown; message: string };
    const isInUse = pool.totalCount >= this.options.poolSize;
    return code === QUERY_CANCELED || (isInUse && message === NO_CONNECTION_FREE);
  }

  async close(): Promise<void> {
    this.closed = true;
    const { pool } = this;
    this.pool = null;
    await Promise.all([this.server.close(), pool?.end()]);
  }

  /** It may have been started anew, on an older state than it has shown before, so that nothing is known of it. */
  private lose({ message }: Error): void {
    this.knowsAllBefore = -Infinity;
    this.leave(message.replace(/\s+/g, ' '));
  }

  private rest(): void {
    const restMs = FIRST_REST_MS * 2 ** Math.min(this.failedReads, MOST_DOUBLINGS);
    this.failedReads += 1;
    this.restsUntil = performance.now() + restMs;
  }

  private leave(reason: string): void {
    const isNews = this.pool !== null || !this.isJudged;
    // What is under way ends on the connections it has; none of them is used again.
    void this.pool?.end();
    this.pool = null;
    this.isJudged = true;
    if (isNews && !this.closed) {
      this.options.onChange(this.name, reason);
    }
  }

  private takeBack(): void {
    if (this.pool !== null || this.closed) {
      return;
    }
    const pool = openReadPool(this.options.url, this.options.poolSize);
    pool.on('error', (error) => pool === this.pool && this.lose(error));
    this.pool = pool;
    this.isJudged = true;
    this.options.onChange(this.name, null);
  }
}
