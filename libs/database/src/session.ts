import type { PoolClient } from 'pg';
import type { PreparedStatement, StatementNames } from './prepared';

/**
 * One connection of the pool. Statements that are sent without waiting for each other's answer travel together and cost
 * one round trip; PostgreSQL runs them in the order in which they were sent.
 */
export class Session {
  constructor(
    private readonly client: PoolClient,
    private readonly names: StatementNames,
  ) {}

  /**
   * Sends a statement.
   * @param values in the order of `$1`, `$2`, …
   * @returns the rows as the driver reports them: a `bigint` is text
   * @throws what the driver throws; inside of a transaction, every later statement then fails with 25P02
   */
  async run<Row extends object>(statement: PreparedStatement, values: unknown[] = []): Promise<Row[]> {
    const name = this.names.current(statement.name);
    try {
      return (await this.client.query<Row>({ name, text: statement.text, values })).rows;
    } catch (error) {
      this.names.learnFrom(error, statement.name, name);
      throw error;
    }
  }
}
