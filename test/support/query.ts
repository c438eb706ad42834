import { Client } from 'pg';

/** Runs a statement on a connection of its own. */
export async function query<Row extends object>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const connection = new Client({ connectionString: url });
  // A connection that breaks fails the statement too; without a listener it would fail whatever test runs at that moment.
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    return (await connection.query<Row>(sql, values)).rows;
  } finally {
    await connection.end().catch(() => undefined);
  }
}
