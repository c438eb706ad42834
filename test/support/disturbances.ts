import type { Pool } from 'pg';
import type { TestService } from './service';

/** Keeps the row of a pet locked until the work is done, so that other transactions that lock the row wait. */
export function whileLocked<Result>(pool: Pool, petId: number, work: () => Promise<Result>): Promise<Result> {
  return whileHeld(pool, `SELECT FROM pets WHERE id = ${petId} FOR UPDATE`, work);
}

/** Runs a statement in a transaction that stays open until the work is done, and commits the transaction. */
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

/**
 * Runs the work while every statement that uses the table fails with a division by zero. The table is not
 * just missing, because the service would answer 503, as if the database were unavailable.
 */
export async function whileTableFails<Result>(
  { database }: TestService,
  table: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await database.pool.query(
    `ALTER TABLE ${table} RENAME TO away;
     CREATE VIEW ${table} AS SELECT * FROM away WHERE 1 / 0 = 1 WITH CHECK OPTION`,
  );
  try {
    return await work();
  } finally {
    await database.pool.query(`DROP VIEW ${table}; ALTER TABLE away RENAME TO ${table}`);
  }
}
