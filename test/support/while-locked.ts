import type { Pool } from 'pg';

/** Keeps a pet locked, so that whoever wants it has to wait, until the work is done. */
export function whileLocked<Result>(pool: Pool, petId: number, work: () => Promise<Result>): Promise<Result> {
  return whileHeld(pool, `SELECT FROM pets WHERE id = ${petId} FOR UPDATE`, work);
}

/** Keeps the transaction of a statement open until the work is done, and commits it. */
export async function whileHeld<Result>(
  pool: Pool,
  statement: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(statement);
    return await work();
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
}

/** How many statements wait for a lock in this database. */
export async function lockWaits(pool: Pool): Promise<number> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await pool.query(sql)).rowCount!;
}
