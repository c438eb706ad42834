import { Pool } from 'pg';
import { walPosition } from './wal-history';

/** How long a server may take to let an observer in, and to answer it. */
const ANSWER_MS = 500;

export interface Observation {
  /** False for a primary, whether it always was one or has been promoted. */
  standby: boolean;
  /** How far a standby has replayed the write-ahead log, or a primary written it. */
  position: bigint;
  /** Equal for a primary and all that have their contents from it. */
  identity: string;
}

/** What the primary is about to insert covers also what it has acknowledged but not yet flushed (synchronous_commit). */
const OBSERVE = `
  SELECT pg_is_in_recovery() AS standby,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END AS position,
    (SELECT system_identifier FROM pg_control_system()) || ' ' || current_database() AS identity`;

/** Asks a server how it is, on a connection of its own: one that others use may keep it waiting. */
export class ObservedServer {
  private readonly pool: Pool;

  /** @param onLost called when the connection breaks between two questions */
  constructor(url: string, onLost: (error: Error) => void) {
    this.pool = new Pool({
      connectionString: url,
      max: 1,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'petstore replicas',
    });
    this.pool.on('error', onLost);
  }

  /** Rejects when the server does not answer in time. */
  async observe(): Promise<Observation> {
    const { rows } = await this.pool.query<{ standby: boolean; position: string; identity: string }>(OBSERVE);
    const { standby, position, identity } = rows[0]!;
    return { standby, position: walPosition(position), identity };
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
