import type { EntityTarget } from 'typeorm';
import { type Database } from './database';
import type { SharedRead } from './reads';
import type { StoredRow } from './session';
import { DEFAULT_PAGE_SIZE, idBefore, type Page, pageOf, type PageQuery } from '#libs/http';
import {
  type List,
  namePrefix,
  namedPageStatement,
  pageStatement,
  sharedPagesStatement,
} from './page-statements';

/** PostgreSQL's type of a value in a page's statement. */
export type ParameterType = 'bigint' | 'bigint[]' | 'boolean' | 'int' | 'text' | 'text[]';

/** Adds a value to a statement and returns its placeholder, with the type. */
export type Parameter = (value: unknown, type: ParameterType) => string;

/** The requested entries of a list. */
export interface Selection extends Pick<List, 'conditions' | 'within'> {
  /** Planned for its values, such as arrays: it shares no statement. */
  isUnprepared?: boolean;
  /** Only entries whose name starts with this text. Planned for its values. */
  named?: { prefix: string; indexed?: readonly string[] };
}

/** The values of a page's statement: the id before it, the number of rows, and those of the filters. */
type Values = readonly unknown[];

/** Pages that one statement reads. */
const MAX_BATCH = 20;
/**
 * PostgreSQL assumes this length for an array in a prepared statement. For shorter ones it would plan the statement
 * again each time, so they are filled up with empty pages.
 */
const MIN_BATCH = 10;

/**
 * Reads the pages of a list, whose entries are the rows of an entity in ascending order of id. Requests with the same
 * filters that arrive while a statement runs share the next one, whatever the filters' values are.
 */
export class PageReader<Row extends object, Query extends PageQuery> {
  private readonly shared = new Map<string, SharedRead<Values, Row[]>>();

  /** @param select turns the filters of a request into SQL */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: (filters: Query, parameter: Parameter) => Selection,
  ) {}

  /**
   * @param caller the id of the client, whose turn the read takes
   * @throws ApiError 400 `invalid_cursor`
   */
  async read(query: Query, caller?: number): Promise<Page<Row>> {
    const values: unknown[] = [];
    const types: ParameterType[] = [];
    const parameter: Parameter = (value, type) => {
      types.push(type);
      return `$${values.push(value)}::${type}`;
    };
    parameter(idBefore(query.cursor), 'bigint');
    const { limit = DEFAULT_PAGE_SIZE } = query;
    parameter(limit + 1, 'int');
    const selection = this.select(query, parameter);
    const rows =
      selection.isUnprepared || selection.named !== undefined
        ? await this.readAlone(selection, values, parameter, caller)
        : await this.database.share(this.sharedBy(selection, types), values, caller);
    return pageOf(rows, limit, (row) => this.table.idOf(row));
  }

  private async readAlone(
    { named, ...rest }: Selection,
    values: unknown[],
    parameter: Parameter,
    caller: number | undefined,
  ): Promise<Row[]> {
    const list = this.listOf(rest);
    const text =
      named === undefined
        ? pageStatement(list)
        : namedPageStatement(list, parameter(namePrefix(named.prefix), 'text'), named.indexed);
    const rows = await this.database.read({ text, isUnprepared: true }, values, caller);
    return rows.map((row) => this.table.rowOf(row));
  }

  private sharedBy(selection: Selection, types: ParameterType[]): SharedRead<Values, Row[]> {
    const filters = [selection.conditions, selection.within?.parameters].join();
    let shared = this.shared.get(filters);
    if (shared === undefined) {
      const statement = { text: sharedPagesStatement(this.listOf(selection), types) };
      shared = {
        maxBatch: MAX_BATCH,
        statementFor: (pages) => ({ ...statement, values: columnsOf(pages) }),
        resultsOf: (rows, pages) => this.pagesOf(rows, pages),
      };
      this.shared.set(filters, shared);
    }
    return shared;
  }

  /** @param stored rows with the number of their page, from 1, in the last column */
  private pagesOf(stored: readonly StoredRow[], pages: readonly Values[]): Row[][] {
    const { table } = this;
    const rows = pages.map((): Row[] => []);
    for (const row of stored) {
      rows[(row.at(-1) as number) - 1]!.push(table.rowOf(row));
    }
    // They arrive sorted, but SQL does not promise it for a join.
    rows.forEach((page) => page.sort((a, b) => table.idOf(a) - table.idOf(b)));
    return rows;
  }

  private listOf({ conditions, within }: Selection): List {
    const { names: columns, name: table, idColumn: id } = this.table;
    return { columns, table, id, conditions, within };
  }

  private get table() {
    return this.database.table(this.entity);
  }
}

/** An array of values for each parameter. */
function columnsOf(pages: readonly Values[]): unknown[][] {
  const [first] = pages as [Values];
  const empty = first.map((value, index) => (index === 1 ? 0 : value));
  const missing = Math.max(0, MIN_BATCH - pages.length);
  const all = [...pages, ...Array<Values>(missing).fill(empty)];
  return first.map((_value, index) => all.map((values) => values[index]));
}
