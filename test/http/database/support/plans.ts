import { type ClientBase, type Pool, type PoolClient, escapeLiteral } from 'pg';
import { sessionSettings } from '../../../../src/runtime/data-source';
import type { SentStatement } from './recorded-statements';

/** The parts of a node of `EXPLAIN (ANALYZE, FORMAT JSON)` that tell what was read. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

export interface Reading {
  /** Rows and index entries that were read, those included that did not pass a filter. */
  rows: number;
  /** Tables that were read from one end to the other. */
  scannedTables: string[];
  /** The plan in a line, for whoever has to find out. */
  plan: string;
}

/**
 * Runs the statement again and looks at what it reads: planned for its values, or, if `generic`, for any values.
 * @param asSent with the planner settings of the service's connections; without, the statement alone must leave no choice
 */
export async function readingOf(
  pool: Pool,
  statement: SentStatement,
  { generic = false, asSent = false } = {},
): Promise<Reading> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    if (asSent) {
      await client.query(sessionSettings());
    }
    return summarize(await (generic ? explainGeneric(client, statement) : explain(client, statement)));
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/**
 * Runs a statement that the connection has prepared once more, with the plan that the connection keeps for it, and looks at
 * what it reads; undefined if it has not prepared it.
 */
export async function readingOfPrepared(
  client: ClientBase,
  { text, values }: SentStatement,
): Promise<Reading | undefined> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM pg_prepared_statements WHERE statement = $1',
    [text],
  );
  const [found] = rows;
  const execute = `EXECUTE "${found?.name}" (${values.map(literal).join(', ')})`;
  return found && summarize(planIn(await client.query(`${EXPLAIN} ${execute}`)));
}

const EXPLAIN = 'EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, FORMAT JSON)';

async function explain(client: PoolClient, { text, values }: SentStatement): Promise<PlanNode> {
  return planIn(await client.query(`${EXPLAIN} ${text}`, values));
}

async function explainGeneric(client: PoolClient, { text, values }: SentStatement): Promise<PlanNode> {
  await client.query('SET LOCAL plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE explained AS ${text}`);
  const plan = planIn(await client.query(`${EXPLAIN} EXECUTE explained (${values.map(literal).join(', ')})`));
  await client.query('DEALLOCATE explained');
  return plan;
}

function planIn({ rows }: { rows: unknown[] }): PlanNode {
  const [row] = rows as { 'QUERY PLAN': { Plan: PlanNode }[] }[];
  return row!['QUERY PLAN'][0]!.Plan;
}

function literal(value: unknown): string {
  const text = Array.isArray(value) ? `{${value.join(',')}}` : (value as string | number | boolean | null);
  return text === null ? 'NULL' : escapeLiteral(String(text));
}

function summarize(root: PlanNode): Reading {
  const scans = nodesOf(root).filter((node) => 'Relation Name' in node || 'Index Name' in node);
  return {
    rows: scans.reduce((sum, node) => sum + rowsRead(node), 0),
    scannedTables: scans
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'] ?? ''),
    plan: scans.map(describe).join(', '),
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function rowsRead(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round((node['Actual Rows'] + removed) * node['Actual Loops']);
}

function describe(node: PlanNode): string {
  const where = node['Index Name'] ?? node['Relation Name'] ?? '';
  return `${node['Node Type']} ${where} ${rowsRead(node)}`;
}
