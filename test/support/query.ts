import { Client } from 'pg';

/** Runs a statement on a connection of its own. */
export async function query<Row extends object>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  // A connection that breaks fails the statement too; without a listener it would fail whatever test runs at that moment.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
