// How statements get to PostgreSQL: all of a step in one message, and each parsed and described once for a connection.
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type PoolClient, Query, type Submittable, types } from 'pg';
import { serialize } from 'pg-protocol';
import { entryOf } from './entry-of';
import { codeOf, isUnusableStatement } from './postgres-errors';

const { prepareValue } = require('pg/lib/utils') as { prepareValue: (value: unknown) => unknown };

/** A statement that bypasses the ORM. Each connection parses and plans it once. */
export interface Statement {
  text: string;
  /** Planned each time it runs. */
  isUnprepared?: boolean;
}

/** A statement with the values of `$1`, `$2`, … */
export interface Call {
  statement: Statement;
  values?: readonly unknown[];
}

/** The columns of a row, in the order in which they were selected. */
export type StoredRow = readonly unknown[];

/** What a call returns. */
export interface CallResult {
  columns: readonly string[];
  rows: StoredRow[];
}

/**
 * A read that one statement does for many requests. Requests that pass the same object share statements: those that
 * arrive while a statement runs share the next one, so a result is never older than its request.
 */
export interface SharedRead<Key, Result> {
  /** Maximum keys of a statement. */
  readonly maxBatch?: number;
  /** @param keys of the requests, each once */
  callFor(keys: readonly Key[]): Call;
  /** @returns the result for each key, in the order of the keys */
  resultsOf(rows: readonly StoredRow[], keys: readonly Key[]): Result[];
}

/** Characters of a name: 126 bits, so that no two texts get the same. */
const NAME_LENGTH = 21;

/** PostgreSQL's code of a statement that the connection has not prepared. */
const LOST = '26000';
const WITHOUT_NAMES_MS = 600_000;

/**
 * The names of prepared statements. They follow from the texts, because behind a pooler other programs use the same
 * connections. A pooler that gives each transaction another connection, and does not know prepared statements, loses them: then
 * the process goes on without names for ten minutes.
 */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private unusableUntil = 0;

  /** @param onLost called when statements begin to be sent without names, and planned each time */
  constructor(private readonly onLost: () => void = () => undefined) {}

  /** Undefined for a statement that is sent without a name. The texts are few. */
  of({ text, isUnprepared }: Statement): string | undefined {
    if (isUnprepared || performance.now() < this.unusableUntil) {
      return undefined;
    }
    return entryOf(this.names, text, () => hash('sha256', text, 'base64url').slice(0, NAME_LENGTH));
  }

  /** A connection does not have a statement any more that it had prepared. */
  lost(): void {
    const now = performance.now();
    if (now >= this.unusableUntil) {
      this.onLost();
    }
    this.unusableUntil = now + WITHOUT_NAMES_MS;
  }
}

type Parser = (text: string) => unknown;

/** The columns of a statement's rows, and how their texts are read. */
interface Description {
  columns: string[];
  parsers: Parser[];
}

const NO_ROWS: Description = { columns: [], parsers: [] };

/**
 * Calls that PostgreSQL runs one after the other, sent in one message and answered in one. The driver would send five
 * messages for each, and have its rows described again. After a call that fails none is run; those before it are undone,
 * unless a transaction was begun or ended among them.
 * Source: PostgreSQL, "Message Flow", "Extended Query" and "Pipelining".
 */
class Step {
  private readonly results: CallResult[] = [];
  private received: StoredRow[] = [];
  /** Each call, as its connection knows it, or as PostgreSQL describes it before its rows. */
  private readonly sent: { name: string | undefined; description: Description | undefined }[] = [];
  private failure: Error | null = null;

  /**
   * @param prepared what the connection has prepared, by name
   * @param callback called once, with the results of all calls or the error of one
   */
  constructor(
    private readonly calls: readonly Call[],
    private readonly prepared: Map<string, Description>,
    private readonly names: StatementNames,
    readonly callback: (error: Error | null, results: CallResult[]) => void,
  ) {}

  /** For traces, whose instrumentation reads it and replaces the callback. */
  get text(): string {
    return this.calls.map(({ statement }) => statement.text).join(';\n');
  }

  /** Called by the driver, as are all methods that follow. @returns the error of a value that cannot be sent */
  submit({ stream }: { stream: Socket }): Error | null {
    try {
      const messages = this.calls.flatMap((call) => this.messagesOf(call));
      stream.write(Buffer.concat([...messages, serialize.sync()]));
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  private messagesOf({ statement, values = [] }: Call): Buffer[] {
    const name = this.names.of(statement);
    const description = name === undefined ? undefined : this.prepared.get(name);
    this.sent.push({ name, description });
    const bind = serialize.bind({ statement: name, values: values as unknown[], valueMapper: prepareValue });
    if (description !== undefined) {
      return [bind, serialize.execute()];
    }
    // Another step may have prepared it, and failed at a later call: closing what is not there does no harm.
    const close = name === undefined ? [] : [serialize.close({ type: 'S', name })];
    const parse = serialize.parse({ name, text: statement.text });
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
        this.names.lost();
      }
    }
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.failure, this.results);
  }
}

// Where several queries may be under way, the driver takes only its own kind; a step needs nothing that its constructor makes.
Object.setPrototypeOf(Step.prototype, Query.prototype as object);

/** One connection of the pool. */
export class Session {
  private readonly prepared = new Map<string, Description>();

  /** @param isPooled whether the next transaction may not have what was set for the connection */
  constructor(
    private readonly client: PoolClient,
    private readonly names: StatementNames,
    readonly isPooled: boolean,
  ) {}

  /**
   * Runs calls one after the other, in one round trip. Others may be sent before this one is answered.
   * @returns the result of each
   * @throws what the driver throws for the first that fails; those after it are not run
   */
  execute(calls: readonly Call[]): Promise<CallResult[]> {
    return new Promise((resolve, reject) => {
      const step = new Step(calls, this.prepared, this.names, (error, results) =>
        error === null ? resolve(results) : reject(error),
      );
      this.client.query(step as unknown as Submittable);
    });
  }

  /** Sends all that the work executes in one system call. */
  corked<Result>(work: () => Result): Result {
    const { stream } = (this.client as unknown as { connection: { stream: Socket } }).connection;
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }
}
