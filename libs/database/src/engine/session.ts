import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type PoolClient, Query, type Submittable, types } from 'pg';
import { serialize } from 'pg-protocol';
import { getOrInsert } from './get-or-insert';
import { codeOf, isUnusableStatement } from './postgres-errors';

const { prepareValue } = require('pg/lib/utils') as { prepareValue: (value: unknown) => unknown };

/**
 * An SQL statement that bypasses the ORM. By default, each connection prepares the statement once and then executes the
 * prepared statement.
 */
export interface Statement {
  text: string;
  values?: readonly unknown[];
  /** If true, PostgreSQL plans the statement again for each execution. */
  isUnprepared?: boolean;
}

/** The values of a row, in the order of the selected columns. */
export type StoredRow = readonly unknown[];

export interface StatementResult {
  columns: readonly string[];
  rows: StoredRow[];
}

/**
 * A read that answers many requests with one statement. Requests that arrive while the statement runs share the next
 * execution of the statement.
 */
export interface SharedRead<Key, Result> {
  readonly maxKeys?: number;
  statementFor(keys: readonly Key[]): Statement;
  /** Returns one result for each key, in the order of `keys`. */
  resultsOf(rows: readonly StoredRow[], keys: readonly Key[]): Result[];
}

/**
 * Length of the names of prepared statements. 21 base64url characters hold 126 bits of a hash, so that no two
 * statements get the same name.
 */
const NAME_LENGTH = 21;

/** PostgreSQL's error code for a prepared statement that the connection does not have. */
const LOST = '26000';
const WITHOUT_NAMES_MS = 600_000;

/**
 * Names each prepared statement by a hash of its text, so that programs that share a connection behind a pooler do not
 * use the same name for different statements.
 */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private unusableUntil = 0;

  /**
   * @param onLost called when a pooler has lost a prepared statement, so that no statements are prepared for ten
   * minutes
   */
  constructor(private readonly onLost: () => void = () => undefined) {}

  nameFor({ text, isUnprepared }: Statement): string | undefined {
    if (isUnprepared || performance.now() < this.unusableUntil) {
      return undefined;
    }
    return getOrInsert(this.names, text, () => hash('sha256', text, 'base64url').slice(0, NAME_LENGTH));
  }

  noteLost(): void {
    const now = performance.now();
    if (now >= this.unusableUntil) {
      this.onLost();
    }
    this.unusableUntil = now + WITHOUT_NAMES_MS;
  }
}

type Parser = (text: string) => unknown;

interface Description {
  columns: string[];
  parsers: Parser[];
}

const NO_ROWS: Description = { columns: [], parsers: [] };

/**
 * Sends several statements at once and receives their results in one round trip. Does not use the driver's pipeline
 * mode, because it sends more messages for each statement, which takes more processor time. PostgreSQL's documentation
 * describes the messages under "Message Flow".
 */
class RoundTrip {
  private readonly results: StatementResult[] = [];
  private received: StoredRow[] = [];
  private readonly sent: { name: string | undefined; description: Description | undefined }[] = [];
  private failure: Error | null = null;

  /**
   * @param prepared the statements that the connection has prepared, by name
   * @param callback called once, with the results of all statements or the error of the failed statement
   */
  constructor(
    private readonly statements: readonly Statement[],
    private readonly prepared: Map<string, Description>,
    private readonly names: StatementNames,
    readonly callback: (error: Error | null, results: StatementResult[]) => void,
  ) {}

  /** The SQL of all statements, which the driver's tracing instrumentation reads. */
  get text(): string {
    return this.statements.map(({ text }) => text).join(';\n');
  }

  /**
   * Sends the statements. The driver calls this method.
   * @returns an error if a value cannot be sent
   */
  submit({ stream }: { stream: Socket }): Error | null {
    try {
      const messages = this.statements.flatMap((statement) => this.messagesOf(statement));
      stream.write(Buffer.concat([...messages, serialize.sync()]));
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  private messagesOf(statement: Statement): Buffer[] {
    const { text, values = [] } = statement;
    const name = this.names.nameFor(statement);
    const description = name === undefined ? undefined : this.prepared.get(name);
    this.sent.push({ name, description });
    const bind = serialize.bind({ statement: name, values: values as unknown[], valueMapper: prepareValue });
    if (description !== undefined) {
      return [bind, serialize.execute()];
    }
    // Remove any prepared statement of this name first. PostgreSQL refuses to prepare a name twice, and an earlier
    // round trip may have prepared the name and then failed.
    const close = name === undefined ? [] : [serialize.close({ type: 'S', name })];
    const parse = serialize.parse({ name, text });
    return [...close, parse, bind, serialize.describe({ type: 'P' }), serialize.execute()];
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.sent[this.results.length]!.description = {
      columns: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as Parser),
    };
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { parsers } = this.sent[this.results.length]!.description!;
    try {
      this.received.push(fields.map((text, index) => (text === null ? null : parsers[index]!(text))));
    } catch (error) {
      this.failure ??= error as Error;
    }
  }

  handleCommandComplete(): void {
    const { name, description = NO_ROWS } = this.sent[this.results.length]!;
    if (name !== undefined) {
      this.prepared.set(name, description);
    }
    this.results.push({ columns: description.columns, rows: this.received });
    this.received = [];
  }

  handleError(error: Error): void {
    if (isUnusableStatement(error)) {
      this.prepared.clear();
      if (codeOf(error) === LOST) {
        this.names.noteLost();
      }
    }
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.failure, this.results);
  }
}

// The driver accepts only instances of its own `Query` class, so make `RoundTrip` look like a subclass of `Query`.
Object.setPrototypeOf(RoundTrip.prototype, Query.prototype as object);

export class Session {
  private readonly prepared = new Map<string, Description>();

  /**
   * @param isPooled true behind a connection pooler, where the settings of a connection may be lost in the next
   * transaction
   */
  constructor(
    private readonly connection: PoolClient,
    private readonly names: StatementNames,
    readonly isPooled: boolean,
  ) {}

  /**
   * Runs statements one after the other in one round trip.
   * @returns the result of each statement
   * @throws the driver's error for the first statement that fails; the statements after it are not run
   */
  execute(statements: readonly Statement[]): Promise<StatementResult[]> {
    return new Promise((resolve, reject) => {
      const roundTrip = new RoundTrip(statements, this.prepared, this.names, (error, results) =>
        error === null ? resolve(results) : reject(error),
      );
      this.connection.query(roundTrip as unknown as Submittable);
    });
  }

  /**
   * Runs `work`, and sends all statements that `work` executes in one system call, which takes less time than one call
   * per statement.
   */
  corked<Result>(work: () => Result): Result {
    const { stream } = (this.connection as unknown as { connection: { stream: Socket } }).connection;
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }
}
