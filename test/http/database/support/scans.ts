import type { Pool } from 'pg';
import { eventually } from '../../../support/eventually';

/**
 * How often each table is read from one end to the other while `work` runs, by PostgreSQL's own statistics.
 * @param work closes what it connects: a connection tells the last of what it has done when it ends
 */
export async function scansDuring(pool: Pool, work: () => Promise<void>): Promise<Map<string, number>> {
  // What this connection has read itself would otherwise be counted late.
  await pool.query('SELECT pg_stat_force_next_flush()');
  await pool.query('SELECT pg_stat_reset()');
  const before = await connected(pool);
  await work();
  await eventually(async () => {
    expect((await connected(pool)).filter((process) => !before.includes(process))).toEqual([]);
  });
  const { rows } = await pool.query<{ relname: string; seq_scan: string }>(
    'SELECT relname, seq_scan FROM pg_stat_user_tables',
  );
  return new Map(rows.map((row) => [row.relname, Number(row.seq_scan)]));
}

async function connected(pool: Pool): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid);
}
