import type { Pool } from 'pg';

/** Keeps a pet locked, so that whoever wants it has to wait, until the work is done. */
export async function whileLocked<Result>(
  pool: Pool,
  petId: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM pets WHERE id = $1 FOR UPDATE', [petId]);
    return await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

/** How many statements wait for a lock in this database. */
export async function lockWaits(pool: Pool): Promise<number> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await pool.query(sql)).rowCount!;
}
