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
