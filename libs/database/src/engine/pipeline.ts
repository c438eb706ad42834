// How statements get to PostgreSQL: all of a step in one message, and each parsed and described once for a connection.
import { hash } from 'node:crypto';
import { Query, types } from 'pg';
import { serialize } from 'pg-protocol';
import { codeOf, isUnusableStatement } from './postgres-errors';

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

const { prepareValue } = require('pg/lib/utils') as { prepareValue: (value: unknown) => unknown };

type Parser = (text: string) => unknown;

/** The columns of a statement's rows, and how their texts are read. */
interface Description {
  columns: string[];
  parsers: Parser[];
}

/** Characters of a name: 126 bits, so that no two texts get the same. */
const NAME_LENGTH = 21;

/** PostgreSQL's code of a statement that the connection has not prepared. */
const LOST = '26000';
/** So many losses in a minute are the work of a pooler. The process then goes on without names for ten minutes. */
const MAX_LOSSES = 3;
const LOSSES_MS = 60_000;
const WITHOUT_NAMES_MS = 600_000;

/**
 * The names of prepared statements. They follow from the texts, because behind a pooler other programs use the same
 * connections. A pooler that gives each transaction another connection, and does not know prepared statements, loses them.
 */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private losses: number[] = [];
  private unusableUntil = 0;

  /** @param onUnusable called when statements begin to be sent without names, and planned each time */
  constructor(private readonly onUnusable: () => void = () => undefined) {}

  /** Undefined for a statement that is sent without a name. The texts are few. */
  of({ text, isUnprepared }: Statement): string | undefined {
    if (isUnprepared || (this.unusableUntil > 0 && performance.now() < this.unusableUntil)) {
      return undefined;
    }
    let name = this.names.get(text);
    if (name === undefined) {
      name = hash('sha256', text, 'base64url').slice(0, NAME_LENGTH);
      this.names.set(text, name);
    }
    return name;
  }

  /** A connection does not have a statement any more that it had prepared. */
  lost(): void {
    const now = performance.now();
    this.losses = [...this.losses.filter((at) => at > now - LOSSES_MS), now];
    if (this.losses.length >= MAX_LOSSES) {
      this.losses = [];
      this.unusableUntil = now + WITHOUT_NAMES_MS;
      this.onUnusable();
    }
  }
}

/** What each connection of the driver has prepared, by name. */
const prepared = new WeakMap<Connection, Map<string, Description>>();

/** The driver's connection, as far as steps use it. */
interface Connection {
  stream: { write(data: Buffer): unknown };
}

const NO_ROWS: Description = { columns: [], parsers: [] };

/**
 * Calls that PostgreSQL runs one after the other, sent in one message and answered in one. The driver would send five
 * messages for each, and have its rows described again. After a call that fails none is run; those before it are undone,
 * unless a transaction was begun or ended among them.
 * Source: PostgreSQL, "Message Flow", "Extended Query" and "Pipelining".
 */
export class Step {
  private readonly results: CallResult[] = [];
  private received: StoredRow[] = [];
  /** Of each call: as its connection knows it, or as PostgreSQL describes it before its rows. */
  private readonly descriptions: (Description | undefined)[] = [];
  private readonly sentNames: (string | undefined)[] = [];
  private known!: Map<string, Description>;
  private failure: Error | null = null;

  /** @param callback called once, with the results of all calls or the error of one */
  constructor(
    private readonly calls: readonly Call[],
    private readonly names: StatementNames,
    readonly callback: (error: Error | null, results: CallResult[]) => void,
  ) {}

  /** For traces, whose instrumentation reads it and replaces the callback. */
  get text(): string {
    return this.calls.map(({ statement }) => statement.text).join(';\n');
  }

  /** Called by the driver, as are all methods that follow. */
  submit(connection: Connection): Error | null {
    let known = prepared.get(connection);
    if (known === undefined) {
      known = new Map();
      prepared.set(connection, known);
    }
    this.known = known;
    try {
      const messages = this.calls.flatMap((call) => this.messagesOf(call));
      connection.stream.write(Buffer.concat([...messages, serialize.sync()]));
      return null;
    } catch (error) {
      // A value that cannot be sent.
      return error as Error;
    }
  }

  private messagesOf({ statement, values = [] }: Call): Buffer[] {
    const name = this.names.of(statement);
    const description = name === undefined ? undefined : this.known.get(name);
    this.sentNames.push(name);
    this.descriptions.push(description);
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
    this.descriptions[this.results.length] = {
      columns: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as Parser),
    };
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { parsers } = this.descriptions[this.results.length]!;
    try {
      this.received.push(fields.map((text, index) => (text === null ? null : parsers[index]!(text))));
    } catch (error) {
      this.failure ??= error as Error;
    }
  }

  handleCommandComplete(): void {
    const at = this.results.length;
    const description = this.descriptions[at] ?? NO_ROWS;
    const name = this.sentNames[at];
    if (name !== undefined) {
      this.known.set(name, description);
    }
    this.results.push({ columns: description.columns, rows: this.received });
    this.received = [];
  }

  handleError(error: Error): void {
    if (this.results.length < this.calls.length && isUnusableStatement(error)) {
      this.known.clear();
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
