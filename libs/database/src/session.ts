import type { Duplex } from 'node:stream';
import type { PoolClient } from 'pg';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';
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
      this.names.learnFrom(error, statement.name, name, this);
      throw error;
    }
  }

  /** As `run`, for a statement outside of transactions: prepared anew when a migration has outdated what was prepared. */
  async runWithRetry(statement: PreparedStatement, values: unknown[]): Promise<object[]> {
    try {
      return await this.run<object>(statement, values);
    } catch (error) {
      if (isOutdatedStatement(error)) {
        return this.run<object>(statement, values);
      }
      if (isLostStatement(error)) {
        return this.run<object>({ text: statement.text }, values);
      }
      throw error;
    }
  }

  /** Hands what the work sends to the system in one piece. */
  together<Result>(work: () => Result): Result {
    const { stream } = (this.client as unknown as { connection: { stream: Duplex } }).connection;
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }
}
