import type { Pool, PoolClient } from 'pg';
import type { EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { statementNamesOf } from './statement-names';

/** A statement that goes past the ORM: for the few that most requests are. */
export interface PreparedStatement {
  /** Always stands for the same text; each connection parses and plans it once. Without a name it is planned for its values. */
  name?: string;
  text: string;
}

/**
 * Runs the statement in the transaction, or by itself when given what is none (`Database.reader`). When a migration has
 * outdated what the connection prepared, it is prepared anew and run once more; in a transaction, which such a failure
 * has ended, `Database.transaction` runs the whole work once more.
 * @param values in the order of `$1`, `$2`, …
 * @returns the rows as the driver hands them over: a `bigint` is text
 * @throws what the driver throws
 */
export async function prepared<Row extends object>(
  where: EntityManager,
  statement: PreparedStatement,
  values: unknown[],
): Promise<Row[]> {
  const connection = await connectionOf(where);
  const names = statementNamesOf(where.dataSource);
  const { text } = statement;
  const name = names.current(statement.name);
  try {
    return (await connection.query<Row>({ name, text, values })).rows;
  } catch (error) {
    const mayRunAgain = names.learnFrom(error, statement.name, name);
    if (!mayRunAgain || where.queryRunner !== undefined) {
      throw error;
    }
    return (await connection.query<Row>({ name: names.current(statement.name), text, values })).rows;
  }
}

async function connectionOf({ queryRunner, dataSource }: EntityManager): Promise<Pool | PoolClient> {
  return queryRunner === undefined
    ? ((dataSource.driver as PostgresDriver).master as Pool)
    : ((await queryRunner.connect()) as PoolClient);
}
