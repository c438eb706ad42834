import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { poolOf } from '#libs/database';
import { until } from '../../../../support/eventually';
import type { TestService } from '../../../../support/service';

/** What was read of some tables. */
export interface RowsRead {
  /** Rows and index entries, those included that did not pass a filter. */
  rows: number;
  /** Tables that were read from one end to the other. */
  scanned: string[];
}

type Counts = Map<string, { scans: number; rows: number }>;

const COUNTS = `SELECT relname AS "table", seq_scan::int AS scans,
    (seq_tup_read + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid))::int AS rows
  FROM pg_stat_user_tables AS t WHERE relname = ANY($1)`;

/** As many as the pool may have, so that those at work are waited for. */
async function onEach(pool: Pool, statement: string): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  await Promise.all(clients.map((client) => client.query(statement)));
  clients.forEach((client) => client.release());
}

/** Runs a statement on each connection that the service has. */
export function onEachConnection({ app }: TestService, statement: string): Promise<void> {
  return onEach(poolOf(app.get(DataSource)), statement);
}

const SESSIONS = `SELECT count(*)::int AS sessions FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend'`;

/** By PostgreSQL's own statistics, which its sessions pass on when they are told to, and when they end. */
async function countsOf(service: TestService, tables: readonly string[]): Promise<Counts> {
  const { pool } = service.database;
  // What the test has read itself would otherwise be counted late.
  await onEach(pool, 'SELECT pg_stat_force_next_flush()');
  await onEachConnection(service, 'SELECT pg_stat_force_next_flush()');
  // Pools close idle connections: their sessions end a moment later.
  await until(async () => {
    const { rows } = await pool.query<{ sessions: number }>(SESSIONS);
    return rows[0]!.sessions === pool.totalCount + poolOf(service.app.get(DataSource)).totalCount;
  });
  const { rows } = await pool.query<{ table: string; scans: number; rows: number }>(COUNTS, [tables]);
  return new Map(rows.map(({ table, ...counts }) => [table, counts]));
}

/** What the service really reads of these tables while it does each of these works, whatever it plans. */
export async function rowsReadByEach(
  service: TestService,
  tables: readonly string[],
  works: (() => Promise<unknown>)[],
): Promise<RowsRead[]> {
  const found: RowsRead[] = [];
  let before = await countsOf(service, tables);
  for (const work of works) {
    await work();
    const after = await countsOf(service, tables);
    const changes = [...after].map(([table, { scans, rows }]) => {
      const { scans: scansBefore, rows: rowsBefore } = before.get(table)!;
      return { table, scans: scans - scansBefore, rows: rows - rowsBefore };
    });
    found.push({
      rows: changes.reduce((sum, { rows }) => sum + rows, 0),
      scanned: changes.filter(({ scans }) => scans > 0).map(({ table }) => table),
    });
    before = after;
  }
  return found;
}
