import type { Duplex } from 'node:stream';
import type { PoolClient } from 'pg';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';
import type { PreparedStatement, StatementNames } from './prepared';

/** The columns of a row, in the order in which they were selected, as the driver reports them. */
export type StoredRow = readonly unknown[];

/**
 * One connection of the pool. Statements that do not wait for each other's results share one round trip; PostgreSQL runs
 * them in the order in which they were sent.
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
  run<Row extends object>(statement: PreparedStatement, values: unknown[] = []): Promise<Row[]> {
    return this.send<Row>(statement, { values });
  }

  /** As `run`; each row is an array of its columns, which costs the driver half as much. */
  read(statement: PreparedStatement, values: unknown[]): Promise<StoredRow[]> {
    return this.send<StoredRow>(statement, { values, rowMode: 'array' });
  }

  /** As `run`, outside of transactions: prepares the statement again if a migration has outdated it. */
  runWithRetry<Row extends object>(statement: PreparedStatement, values: unknown[] = []): Promise<Row[]> {
    return withRetry(statement, (current) => this.run<Row>(current, values));
  }

  /** As `read`, outside of transactions: prepares the statement again if a migration has outdated it. */
  readWithRetry(statement: PreparedStatement, values: unknown[]): Promise<StoredRow[]> {
    return withRetry(statement, (current) => this.read(current, values));
  }

  private async send<Row>(
    statement: PreparedStatement,
    options: { values: unknown[]; rowMode?: 'array' },
  ): Promise<Row[]> {
    const name = this.names.current(statement.name);
    try {
      const { rows } = await this.client.query({ name, text: statement.text, ...options });
      return rows as Row[];
    } catch (error) {
      this.names.learnFrom(error, statement.name, name, this);
      throw error;
    }
  }

  /** Sends all statements of the work in one system call. */
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

async function withRetry<Rows>(
  statement: PreparedStatement,
  run: (statement: PreparedStatement) => Promise<Rows>,
): Promise<Rows> {
  try {
    return await run(statement);
  } catch (error) {
    if (isOutdatedStatement(error)) {
      return run(statement);
    }
    if (isLostStatement(error)) {
      return run({ text: statement.text });
    }
    throw error;
  }
}
