import { randomInt } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../../settings';

/** First numbers of the advisory locks that instances hold, by how they count. The second number is the instance's own. */
export const COUNTS_ALONE = 1_885_696_627;
export const COUNTS_IN_REDIS = COUNTS_ALONE + 1;

/** A number that tells an instance from all others. The worker processes of one service share it. */
export function newServiceId(): number {
  return randomInt(1, 2 ** 31 - 1);
}

/**
 * Finds out whether another instance on the same database counts limits that are not shared with this one: each of the
 * two lets the whole limit through. Every instance holds an advisory lock in a session that it keeps, so the others no
 * longer find it when it ends, however it ends.
 */
@Injectable()
export class InstanceWatch {
  private readonly logger = new Logger('Quotas');
  /** A lost connection may leave its session behind for a while: that is no other instance. */
  private readonly id: number;
  private readonly countsAlone: boolean;
  private shared = true;

  constructor(@Inject(SETTINGS) { redisUrl, serviceId }: Settings) {
    this.id = serviceId ?? newServiceId();
    this.countsAlone = redisUrl === undefined;
  }

  /** False while another instance on this database counts the same limits by itself, or this one beside others. */
  get limitsShared(): boolean {
    return this.shared;
  }

  /** Shows this instance to the others, for as long as the session lasts: at most a minute after its machine is gone. */
  get setUp(): string {
    const kind = this.countsAlone ? COUNTS_ALONE : COUNTS_IN_REDIS;
    return `SET idle_session_timeout = '60s'; SELECT pg_try_advisory_lock_shared(${kind}, ${this.id})`;
  }

  /** Asks whether there is another instance that shares no limits with this one; `take` reads the answer. */
  get question(): string {
    const kinds = this.countsAlone ? [COUNTS_ALONE, COUNTS_IN_REDIS] : [COUNTS_ALONE];
    return `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database()
      WHERE locktype = 'advisory' AND classid IN (${kinds.join(', ')}) AND objid <> ${this.id} AND objsubid = 2
      LIMIT 1`;
  }

  take({ rowCount }: { rowCount: number | null }): void {
    const shared = rowCount === 0;
    if (shared === this.shared) {
      return;
    }
    this.shared = shared;
    // The end as loud as the beginning, or a log of warnings would report beginnings without an end.
    this.logger.warn(shared ? 'Limits are exact again: no other instance counts by itself.' : this.warning());
  }

  private warning(): string {
    return this.countsAlone
      ? 'Limits are not shared: another instance runs on this database, and each lets the whole limit through. Set REDIS_URL, the same for all instances.'
      : 'Limits are not shared: an instance without REDIS_URL runs on this database, and lets the whole limit through by itself. Set REDIS_URL there too.';
  }
}
