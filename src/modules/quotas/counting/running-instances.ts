import { COUNTS_ALONE, COUNTS_IN_REDIS } from './instance-watch';

/** A running instance, found by the sessions that hold its advisory lock: one for each worker. */
export interface RunningInstance {
  /** The session's `application_name`. */
  name: string;
  since: Date;
  counts: 'alone' | 'in Redis';
  workers: number;
}

/** Selects all running instances; the columns match `RunningInstance`. */
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
