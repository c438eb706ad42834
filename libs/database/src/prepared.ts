import type { Pool, PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';

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

/** A LIKE pattern for what begins with this text; its own wildcards stand for themselves. */
export function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * The names under which the connections of a data source prepare their statements. A statement that has become useless
 * fails on each connection that prepared it, for as long as that lives, so all of them are told at once: by names that
 * none of them knows. What was prepared under the old ones goes with its connection.
 */
export class StatementNames {
  private generation = 0;
  private useful = true;

  /** The name to use now; undefined when the statement is to be sent without one. */
  current(name: string | undefined): string | undefined {
    if (name === undefined || !this.useful) {
      return undefined;
    }
    return this.generation === 0 ? name : `${name}.${this.generation}`;
  }

  /**
   * Learns from what a statement failed with.
   * @param name as the statement calls itself
   * @param sent the name that it was sent under
   * @returns true when it may be sent again under its name of now; in a transaction, after the rollback
   */
  learnFrom(error: unknown, name: string | undefined, sent: string | undefined): boolean {
    if (isLostStatement(error)) {
      // Behind a pooler that does this, names are of no use.
      this.useful = false;
      return true;
    }
    if (!isOutdatedStatement(error)) {
      return false;
    }
    // Several connections fail for the same reason; the first of them has changed the names already.
    if (sent !== undefined && sent === this.current(name)) {
      this.generation += 1;
    }
    return true;
  }
}

const namesOf = new WeakMap<DataSource, StatementNames>();

/** The names that all who use a data source share. */
export function statementNamesOf(dataSource: DataSource): StatementNames {
  let names = namesOf.get(dataSource);
  if (names === undefined) {
    names = new StatementNames();
    namesOf.set(dataSource, names);
  }
  return names;
}
