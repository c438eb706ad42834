import { escapeLiteral } from 'pg';
import type { EntityTarget } from 'typeorm';
import type { Database } from './database';
import type { Statement } from './engine/pipeline';
import type { SharedRead } from './engine/session';

/** Which entries of a list: at most `limit`, after the one with this id. */
export interface PageRange {
  after: number;
  limit: number;
}

export interface RowPage<Row> {
  entries: Row[];
  /** The id after which the next page starts; null if nothing follows. */
  lastId: number | null;
}

/** Adds a value that the list is filtered with, and returns the SQL that stands for it. */
export type Parameter = (value: unknown, type: ValueType) => string;
type ValueType = 'bigint' | 'boolean' | 'int' | 'text';

/** The filters of a list, as SQL. */
export interface Selection {
  /** Conditions on the leading columns of the list's index. `within` follows, if given, and the id is last. */
  conditions: readonly string[];
  /** A column with few distinct values, its order in the index, and the parameters with the wanted values, each once. */
  within?: { column: string; sorted: 'ASC' | 'DESC'; parameters: readonly string[] } | undefined;
  /** Only entries whose name starts with this text. */
  named?: { prefix: string; indexed?: readonly string[] } | undefined;
}

/** Maximum rows of a page, and one more. */
const MAX_ROWS = 101;
/** How many rows of the list are searched first: enough for a page of 20 if one row in ten has the name. */
const MAX_PROBED = 2 * MAX_ROWS;

/** Maximum pages that one statement reads. */
const MAX_BATCH = 50;

/** Reads the pages of a list, whose entries are the rows of an entity in ascending order of id. */
export class PageReader<Row extends object, Filters> {
  /** By the filters that are used. A page is known by its values, as JSON. */
  private readonly pages = new Map<string, SharedRead<string, Row[]>>();

  /** @param select turns the filters of a request into SQL */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: (filters: Filters, parameter: Parameter) => Selection,
  ) {}

  /**
   * A page may end early if it has a name to look for: see `namedPageStatement`.
   * @param caller the id of the client, whose turn the read takes
   */
  async read({ after, limit }: PageRange, filters: Filters, caller?: number): Promise<RowPage<Row>> {
    const values: unknown[] = [after, limit + 1];
    const types: ValueType[] = ['bigint', 'int'];
    const parameter: Parameter = (value, type) => {
      types.push(type);
      return `v${values.push(value)}`;
    };
    const selection = this.select(filters, parameter);
    const { named } = selection;
    const prefix = named && parameter(namePrefix(named.prefix), 'text');
    const rows = await this.database.share(
      this.pagesFor(selection, prefix, types),
      JSON.stringify(values),
      caller,
    );
    if (named !== undefined && rows.length <= limit) {
      // Written out, because only a plan that is made for the prefix reads the index from where it begins.
      const pattern = escapeLiteral(namePrefix(named.prefix));
      const page = namedPageStatement(this.listOf(selection), pattern, named.indexed);
      const statement = { text: together(page, types), isUnprepared: true };
      const arrays = values.map((value) => [value]);
      return this.readNamed(statement, arrays, limit, caller);
    }
    const entries = rows.slice(0, limit);
    const table = this.database.table(this.entity);
    return { entries, lastId: rows.length > limit ? table.idOf(entries.at(-1)!) : null };
  }

  private pagesFor(
    selection: Selection,
    prefix: string | undefined,
    types: readonly ValueType[],
  ): SharedRead<string, Row[]> {
    const { conditions, within } = selection;
    const filters = `${conditions.join()} ${within?.parameters.join()} ${prefix}`;
    let pages = this.pages.get(filters);
    if (pages === undefined) {
      const list = this.listOf(selection);
      const page = prefix === undefined ? pageStatement(list) : frequentNameStatement(list, prefix);
      const statement = { text: together(page, types) };
      const { rowOf } = this.database.table(this.entity);
      pages = {
        maxBatch: MAX_BATCH,
        callFor: (keys) => {
          const wanted = keys.map((key) => JSON.parse(key) as unknown[]);
          return {
            statement,
            values: types.map((_type, index) => wanted.map((values) => values[index])),
          };
        },
        resultsOf: (stored, keys) => {
          const rows = keys.map((): Row[] => []);
          stored.forEach((row) => rows[(row.at(-1) as number) - 1]!.push(rowOf(row)));
          return rows;
        },
      };
      this.pages.set(filters, pages);
    }
    return pages;
  }

  private listOf(selection: Selection): List {
    const { names: columns, name: table, idColumn: id } = this.database.table(this.entity);
    return { columns, table, id, ...selection };
  }

  private async readNamed(
    statement: Statement,
    values: unknown[],
    limit: number,
    caller: number | undefined,
  ): Promise<RowPage<Row>> {
    const table = this.database.table(this.entity);
    const stored = await this.database.read(statement, values, caller);
    // Before its columns each row has its place among those that were looked at, and whether it has the name.
    const found = stored.map(([place, hasName, ...row]) => ({ place, hasName, row: table.rowOf(row) }));
    const entries = found.filter(({ hasName }) => hasName).map(({ row }) => row);
    const end =
      entries.length > limit
        ? entries[limit - 1]
        : found.find(({ place }) => place === MAX_ROWS_SCANNED)?.row;
    return { entries: entries.slice(0, limit), lastId: end === undefined ? null : table.idOf(end) };
  }
}

// The SQL for one page of a list in ascending order of id. Its duration must not depend on how many rows the table has
// or where the matching rows are, so the statements leave the planner no choice that depends on estimates.

/** A list whose pages are read. In all of its SQL, `after` is the id before the page and `most` the number of rows. */
interface List extends Selection {
  /** Plain column names. */
  columns: string;
  table: string;
  id: string;
}

/** Reads pages, with arrays of their values. Each row ends with the place of its page. The join is a loop, in order. */
function together(page: string, types: readonly ValueType[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = types.map((_type, index) => ['after', 'most'][index] ?? `v${index + 1}`).join(', ');
  return `SELECT page.*, wanted.place FROM unnest(${arrays}) WITH ORDINALITY AS wanted (${names}, place)
    CROSS JOIN LATERAL (${page}) AS page`;
}

/** For each value of `within` it reads no more rows than the page has. */
function pageStatement(list: List): string {
  const parts = partsOf(list).map(({ conditions, order }) => {
    // A generic plan estimates an unknown LIMIT at a tenth of all rows, and would seem too expensive to be kept.
    const most = select(list, conditions, order, `LIMIT ${MAX_ROWS}`);
    return `SELECT * FROM (${most}) AS page ORDER BY ${order} LIMIT most`;
  });
  return parts.length === 1 ? parts[0]! : firstOf(parts, list, 'most');
}

/** Searches the next rows of the list only, which is enough for a frequent name and costs little more than any page. */
function frequentNameStatement(list: List, prefix: string): string {
  const parts = partsOf(list);
  const walks = parts.map(({ conditions, order }) => select(list, conditions, order, `LIMIT ${MAX_PROBED}`));
  // A single walk has the order already, so that it ends with the page.
  const [next, order] =
    parts.length === 1 ? [walks[0], parts[0]!.order] : [firstOf(walks, list, String(MAX_PROBED)), list.id];
  return `SELECT ${list.columns} FROM (${next}) AS next WHERE lower(name) LIKE lower(${prefix}) ORDER BY ${order} LIMIT most`;
}

/** Up to this many rows with a matching name are read and sorted; with more, this many rows of the list are looked at. */
const MAX_ROWS_SCANNED = 2_000;
/** The order of `text_pattern_ops`. */
const BY_NAME = 'lower(name) USING ~<~';
const ARE_MANY = `(SELECT count(*) > ${MAX_ROWS_SCANNED} FROM named)`;

/**
 * A statement for a page of rows whose name starts with a prefix. An index has them in the order of names: if they are few,
 * they are read from it and sorted by id. Otherwise reading the list in its own order soon finds a page of them; where it
 * does not, the page ends with the last row that was looked at.
 * @param prefix a `namePrefix` as a literal
 * @param indexed conditions of the index `(lower(name) text_pattern_ops, id) INCLUDE (name)`
 */
function namedPageStatement(list: List, prefix: string, indexed: readonly string[] = []): string {
  const { columns, id, within } = list;
  const hasName = `lower(name) LIKE lower(${prefix})`;
  // This order forces the planner to use that index.
  const named = select(
    { ...list, columns: id },
    [...indexed, hasName],
    BY_NAME,
    `LIMIT ${MAX_ROWS_SCANNED + 1}`,
  );
  const wanted = within === undefined ? [] : [`${within.column} IN (${within.parameters.join(', ')})`];
  const oneByOne = [`${id} = ANY(ARRAY(SELECT ${id} FROM named))`, `NOT ${ARE_MANY}`];
  const marked = { ...list, columns: `0 AS place, true AS has_name, ${columns}` };
  const few = select(marked, [...conditionsOf(list), ...wanted, ...oneByOne], id, 'LIMIT most');
  const walks = partsOf(list).map(({ conditions, order }) =>
    select(list, [...conditions, ARE_MANY], order, `LIMIT ${MAX_ROWS_SCANNED}`),
  );
  const walk = firstOf(walks, list, String(MAX_ROWS_SCANNED));
  const many = `SELECT * FROM (SELECT (row_number() OVER (ORDER BY ${id}))::int AS place, ${hasName} AS has_name, ${columns}
    FROM (${walk}) AS walk) AS looked_at WHERE has_name OR place = ${MAX_ROWS_SCANNED} ORDER BY ${id} LIMIT most`;
  return `WITH named AS MATERIALIZED (${named}) ${firstOf([few, many], list, 'most')}`;
}

/** A LIKE pattern for a prefix, with its wildcards escaped. */
function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
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
  return [...conditions, `${id} > after`];
}

function select({ columns, table }: List, conditions: string[], order: string, end: string): string {
  return `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} ${end}`;
}

function firstOf(parts: string[], { id }: List, most: string): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY ${id} LIMIT ${most}`;
}
