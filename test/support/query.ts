import { Client } from 'pg';

/** Runs a statement on a connection of its own. */
export async function query<Row extends object>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const connection = new Client({ connectionString: url });
  // If the connection breaks, the statement fails. Without a listener, the test that runs at that moment would fail, too.
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    return (await connection.query<Row>(sql, values)).rows;
  } finally {
    await connection.end().catch(() => undefined);
  }
}
