import type { Pool, PoolClient } from 'pg';
import type { EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

/** A statement that goes past the ORM: for the few that most requests are. */
export interface PreparedStatement {
  /** Always stands for the same text; each connection parses and plans it once. Without a name it is planned for its values. */
  name?: string;
  text: string;
}

/**
 * Runs the statement in the transaction, or by itself when given what is none (`Database.reader`).
 * @param values in the order of `$1`, `$2`, …
 * @returns the rows as the driver hands them over: a `bigint` is text
 * @throws what the driver throws
 */
export async function prepared<Row extends object>(
  where: EntityManager,
  statement: PreparedStatement,
  values: unknown[],
): Promise<Row[]> {
  const connection =
    where.queryRunner === undefined
      ? ((where.dataSource.driver as PostgresDriver).master as Pool)
      : ((await where.queryRunner.connect()) as PoolClient);
  const { rows } = await connection.query<Row>({ ...statement, values });
  return rows;
}
