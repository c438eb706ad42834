import { hostname } from 'node:os';

/** The version of the service, which package.json repeats; a test compares them. */
export const VERSION = '1.0.0';

/** PostgreSQL truncates an `application_name` to this length. */
const MAX_BYTES = 63;

/** The `application_name` of a running service, for `petstore status`: `petstore/1.0.0 1234@host`. */
export function instanceName(): string {
  return `petstore/${VERSION} ${process.pid}@${hostname()}`.slice(0, MAX_BYTES);
}

/** The parts of such a name; null for the name of another program. */
export function readInstanceName(name: string): {
  version: string | null;
  pid: number | null;
  host: string | null;
} {
  const [, version = null, pid = null, host = null] = /^petstore\/(\S+) (\d+)@(.*)$/.exec(name) ?? [];
  return { version, pid: pid === null ? null : Number(pid), host };
}

/** The running instances on a database, by their connections. SQL, because PostgreSQL's own tables have no entities. */
export const RUNNING_INSTANCES = `SELECT application_name AS name, count(*)::int AS connections
  FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^petstore/\\S+ \\d+@'
  GROUP BY application_name ORDER BY min(backend_start), name`;

/** A row of RUNNING_INSTANCES. */
export interface RunningInstance {
  name: string;
  connections: number;
}
