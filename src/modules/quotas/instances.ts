// The running instances on this database, and whether they share their limits.
import { randomInt } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../settings';

/** First keys of the advisory locks that instances hold, by how they count. The second key identifies the instance. */
const COUNTS_ALONE = 1_885_696_627;
const COUNTS_IN_REDIS = COUNTS_ALONE + 1;

/**
 * Detects other instances on the same database that do not share their limits with this one, so that each allows the whole
 * limit. Every instance holds an advisory lock in a long-lived session; PostgreSQL releases it however the instance ends.
 */
@Injectable()
export class InstanceWatch {
  private readonly logger = new Logger('Quotas');
  /** Lets an instance ignore its own session that a lost connection has left behind. */
  private readonly id = randomInt(1, 2 ** 31 - 1);
  private readonly countsAlone: boolean;
  private shared = true;

  constructor(@Inject(SETTINGS) { redisUrl }: Settings) {
    this.countsAlone = redisUrl === undefined;
  }

  /** False while instances on this database count separately. */
  get limitsShared(): boolean {
    return this.shared;
  }

  /** Makes this instance visible to the others until the session ends, at most a minute after a crash of its machine. */
  get setUp(): string {
    const kind = this.countsAlone ? COUNTS_ALONE : COUNTS_IN_REDIS;
    return `SET idle_session_timeout = '60s'; SELECT pg_try_advisory_lock_shared(${kind}, ${this.id})`;
  }

  /** Finds an instance that does not share its limits with this one; `take` handles the result. */
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
    // Also a warning when it is over, so that a log of warnings shows the end.
    this.logger.warn(
      shared ? 'Limits are exact again: no other instance counts separately.' : this.warning(),
    );
  }

  private warning(): string {
    return this.countsAlone
      ? 'Limits are not shared: another instance runs on this database, and each allows the whole limit. Set REDIS_URL, the same for all instances.'
      : 'Limits are not shared: an instance without REDIS_URL runs on this database, and allows the whole limit on its own. Set REDIS_URL there too.';
  }
}

/** A running instance, found by the sessions that hold its advisory lock: one for each worker. */
export interface RunningInstance {
  /** The session's `application_name`. */
  name: string;
  since: Date;
  counts: 'alone' | 'in Redis';
  workers: number;
}

/** Selects all running instances; the columns match `RunningInstance`. SQL, because PostgreSQL's own tables have no entities. */
export const RUNNING_INSTANCES = `SELECT min(application_name) AS name, min(backend_start) AS since,
    CASE classid WHEN ${COUNTS_ALONE} THEN 'alone' ELSE 'in Redis' END AS counts, count(*)::int AS workers
  FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database()
    JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND classid IN (${COUNTS_ALONE}, ${COUNTS_IN_REDIS}) AND objsubid = 2
  GROUP BY classid, objid ORDER BY since, name`;

/** Whether the limits are exact: all instances count in Redis, or there is only one. */
export function shareLimits(instances: readonly RunningInstance[]): boolean {
  return instances.length <= 1 || instances.every(({ counts }) => counts === 'in Redis');
}
