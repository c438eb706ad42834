import type { EntityTarget } from 'typeorm';
import type { Database } from './database';
import type { SharedRead } from './reads';
import type { StoredRow } from './session';

/** PostgreSQL's type of a value in a page's statement. */
type ParameterType = 'bigint' | 'bigint[]' | 'boolean' | 'int' | 'text' | 'text[]';

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

/** Which entries of a list: at most `limit`, after the one with this id. */
export interface PageRange {
  after: number;
  limit: number;
}

export interface RowPage<Row> {
  entries: Row[];
  /** Id of the last entry if more entries follow. */
  lastId: number | null;
}

/** Maximum rows of a page, and one more. */
const MAX_ROWS = 101;
/** Pages that one statement reads. */
const MAX_BATCH = 20;
/**
 * PostgreSQL assumes this length for an array in a prepared statement. For shorter ones it would plan the statement
 * again each time, so they are filled up with empty pages.
 */
const MIN_BATCH = 10;

/**
 * Reads the pages of a list, whose entries are the rows of an entity in ascending order of id. Requests with the same
 * filters that arrive while a statement runs share the next one, whatever the filters' values are; it reads equal pages once.
 */
export class PageReader<Row extends object, Filters> {
  /** Reads by their filters, of pages by their values as JSON. */
  private readonly shared = new Map<string, SharedRead<string, Row[]>>();

  /** @param select turns the filters of a request into SQL */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: (filters: Filters, parameter: Parameter) => Selection,
  ) {}

  /**
   * @param caller the id of the client, whose turn the read takes
   */
  async read({ after, limit }: PageRange, filters: Filters, caller?: number): Promise<RowPage<Row>> {
    const values: unknown[] = [];
    const types: ParameterType[] = [];
    const parameter: Parameter = (value, type) => {
      types.push(type);
      return `$${values.push(value)}::${type}`;
    };
    parameter(after, 'bigint');
    parameter(limit + 1, 'int');
    const selection = this.select(filters, parameter);
    const rows =
      selection.isUnprepared || selection.named !== undefined
        ? await this.readAlone(selection, values, parameter, caller)
        : await this.database.share(this.sharedBy(selection, types), JSON.stringify(values), caller);
    const entries = rows.slice(0, limit);
    const last = entries.at(-1);
    return { entries, lastId: rows.length > limit && last ? this.table.idOf(last) : null };
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

  private sharedBy(selection: Selection, types: ParameterType[]): SharedRead<string, Row[]> {
    const filters = [selection.conditions, selection.within?.parameters].join();
    let shared = this.shared.get(filters);
    if (shared === undefined) {
      const statement = { text: sharedPagesStatement(this.listOf(selection), this.table.json, types) };
      shared = {
        maxBatch: MAX_BATCH,
        statementFor: (pages) => ({ ...statement, values: columnsOf(pages) }),
        resultsOf: (rows, pages) => this.pagesOf(rows, pages),
      };
      this.shared.set(filters, shared);
    }
    return shared;
  }

  /** @param stored the number of each page, from 1, and its rows as JSON */
  private pagesOf(stored: readonly StoredRow[], pages: readonly string[]): Row[][] {
    const { table } = this;
    const results = pages.map((): Row[] => []);
    for (const [number, entries] of stored as [number, string | null][]) {
      const page = JSON.parse(entries ?? '[]') as StoredRow[];
      // They arrive sorted, but SQL does not promise it for an aggregate.
      results[number - 1]!.push(
        ...page.map((entry) => table.rowOf(entry, 'fromJson')).sort((a, b) => table.idOf(a) - table.idOf(b)),
      );
    }
    return results;
  }

  private listOf({ conditions, within }: Selection): List {
    const { names: columns, name: table, idColumn: id } = this.table;
    return { columns, table, id, conditions, within };
  }

  private get table() {
    return this.database.table(this.entity);
  }
}

/** An array of values for each parameter. @param pages their values as JSON */
function columnsOf(pages: readonly string[]): unknown[][] {
  const given = pages.map((page) => JSON.parse(page) as Values);
  const [first] = given as [Values];
  const empty = first.map((value, index) => (index === 1 ? 0 : value));
  const missing = Math.max(0, MIN_BATCH - pages.length);
  const all = [...given, ...Array<Values>(missing).fill(empty)];
  return first.map((_value, index) => all.map((values) => values[index]));
}

// The SQL for one page of a list in ascending order of id. Its duration must not depend on how many rows the table has
// or where the matching rows are, so the statements leave the planner no choice that depends on estimates.
/** A list whose pages are read. In all of its SQL, $1 is the id before the page and $2 the number of rows. */
export interface List {
  /** Plain column names, including those used below. */
  columns: string;
  table: string;
  id: string;
  /** Conditions on the leading columns of the list's index. `within` follows, if given, and the id is last. */
  conditions: readonly string[];
  /**
   * A column with few distinct values, its order in the index, and the parameters with the wanted values, each once.
   */
  within?: { column: string; sorted: 'ASC' | 'DESC'; parameters: readonly string[] };
}

/**
 * A statement for the pages of several requests, to be prepared. Each parameter of `pageStatement` is an array with a
 * value for each request. Its rows are the number of each request that wants any entries, from 1, and these as JSON.
 * @param json an entry as JSON
 * @param types of the parameters
 */
function sharedPagesStatement(list: List, json: string, types: readonly string[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const names = types.map((_type, index) => `value_${index + 1}`);
  const page = pageStatement(list).replace(/\$(\d+)/g, 'request.value_$1');
  return `SELECT request.number::int, (SELECT json_agg(${json}) FROM (${page}) AS page)::text
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS request (${names.join(', ')}, number)
    WHERE request.value_2 > 0`;
}

/** For each value of `within` it reads no more rows than the page has. */
function pageStatement(list: List): string {
  const parts = partsOf(list).map(({ conditions, order }) => {
    // A generic plan estimates an unknown LIMIT at a tenth of all rows, and would seem too expensive to be kept.
    const most = select(list, conditions, order, `LIMIT ${MAX_ROWS}`);
    return `SELECT * FROM (${most}) AS page ORDER BY ${order} LIMIT $2`;
  });
  return parts.length === 1 ? parts[0]! : firstOf(parts, list);
}

/** Up to this many rows with a matching name are read and sorted. */
const FEW = 2_000;
/** The order of `text_pattern_ops`. */
const BY_NAME = 'lower(name) USING ~<~';
const ARE_MANY = `(SELECT count(*) > ${FEW} FROM named)`;

/**
 * A statement for a page of rows whose name starts with a prefix. An index has them in the order of names: up to `FEW`
 * matches are read from it and sorted by id. With more matches, reading the list in its own order soon finds a page of
 * them. It then reads `FEW` rows and a page if the matches are evenly distributed, and in the worst case all rows
 * before matches at the end.
 * @param prefix parameter with a `namePrefix`; the statement has to be planned for its value
 * @param indexed conditions of the index `(lower(name) text_pattern_ops, id) INCLUDE (name)`
 */
function namedPageStatement(list: List, prefix: string, indexed: readonly string[] = []): string {
  const { id, within } = list;
  const hasName = nameBeginsWith(prefix);
  // This order forces the planner to use that index.
  const named = select({ ...list, columns: id }, [...indexed, hasName], BY_NAME, `LIMIT ${FEW + 1}`);
  const wanted = within === undefined ? [] : [`${within.column} IN (${within.parameters.join(', ')})`];
  const oneByOne = [`${id} = ANY(ARRAY(SELECT ${id} FROM named))`, `NOT ${ARE_MANY}`];
  const few = select(list, [...conditionsOf(list), ...wanted, ...oneByOne], id, 'LIMIT $2');
  // Inside a CASE, the planner cannot estimate how frequent the name is.
  const met = [`CASE WHEN ${hasName} THEN true END`, ARE_MANY];
  const many = partsOf(list).map(({ conditions, order }) =>
    select(list, [...conditions, ...met], order, 'LIMIT $2'),
  );
  return `WITH named AS MATERIALIZED (${named}) ${firstOf([few, ...many], list)}`;
}

/** A LIKE pattern for a prefix, with its wildcards escaped. */
export function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** A condition that an index on names supports. @param prefix parameter with a `namePrefix` */
export function nameBeginsWith(prefix: string): string {
  return `lower(name) LIKE lower(${prefix})`;
}

interface Part {
  conditions: string[];
  order: string;
}

/**
 * An index has the rows of one value in order of id, but not those of several values, so each value is a separate part.
 * Compared with `=`, the planner could walk the primary key instead and hope to find the value soon; a range must be
 * read in the order of the index. Two indexes that have the column before the id sort it differently, so that the
 * planner cannot confuse them.
 */
function partsOf(list: List): Part[] {
  const { id, within } = list;
  const conditions = conditionsOf(list);
  if (within === undefined) {
    return [{ conditions, order: id }];
  }
  const { column, sorted, parameters } = within;
  return parameters.map((parameter) => ({
    conditions: [...conditions, `${column} >= ${parameter}`, `${column} <= ${parameter}`],
    order: `${column} ${sorted}, ${id}`,
  }));
}

function conditionsOf({ conditions, id }: List): string[] {
  return [...conditions, `${id} > $1`];
}

function select({ columns, table }: List, conditions: string[], order: string, end: string): string {
  return `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} ${end}`;
}

function firstOf(parts: string[], { id }: List): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY ${id} LIMIT $2`;
}
