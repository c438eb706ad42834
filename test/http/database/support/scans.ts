import type { Pool } from 'pg';
import { until } from '../../../support/eventually';

/** What the connections of the work name themselves, so that nobody else's are waited for. */
export const SCANNED = 'scanned';

/**
 * How often each table is read from one end to the other while `work` runs, by PostgreSQL's own statistics.
 * @param work closes what it connects: a connection tells the last of what it has done when it ends
 */
export async function scansDuring(pool: Pool, work: () => Promise<void>): Promise<Map<string, number>> {
  // What this connection has read itself would otherwise be counted late.
  await pool.query('SELECT pg_stat_force_next_flush()');
  await pool.query('SELECT pg_stat_reset()');
  await work();
  await until(async () => (await pool.query(CONNECTED, [SCANNED])).rowCount === 0);
  const { rows } = await pool.query<{ relname: string; seq_scan: string }>(
    'SELECT relname, seq_scan FROM pg_stat_user_tables',
  );
  return new Map(rows.map((row) => [row.relname, Number(row.seq_scan)]));
}

const CONNECTED = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1';
