import type { EntityTarget } from 'typeorm';
import type { Database } from './database';
import { entryOf } from './engine/entry-of';
import type { SharedRead, StoredRow } from './engine/session';

/** A place in a list: after this id or, in a list by name, after this lower-case name and id. */
export interface ListPosition {
  id: number;
  name?: string;
}

/** Which entries of a list: at most `limit`, after this position. */
export interface PageRange {
  after: ListPosition;
  limit: number;
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
  /** Only entries whose name starts with a text, in the order of their names. */
  named?: NameSearch | undefined;
  /** The properties with long texts: a page ends before it grows too large. */
  long?: readonly string[];
}

/** The list needs an index `(lower(name) COLLATE "C", id)` of the rows that meet its `conditions`. */
interface NameSearch {
  /** The parameter with the text. */
  prefix: string;
  /** Conditions that the index does not know: a page looks at a limited number of names, and ends early. */
  filters: readonly string[];
  /** The parameter with the only wanted ids, as the text of an array. */
  ids?: string | undefined;
}

/** Maximum rows of a page, and one more. */
const MAX_ROWS = 101;
/** How many rows with a name are looked at for a page. */
const MAX_LOOKED_AT = 2_000;
const MAX_PAGE_BYTES = 256 * 1024;
/** What an entry has besides its texts, at most. */
const BYTES_BESIDES = 64;

/** Maximum pages that one statement reads; fewer if they are long, or searched for. */
const MAX_BATCH = 50;
const MAX_BATCH_OF_LONG = 4;

/** Reads the pages of a list, whose entries are the rows of an entity: in ascending order of id, or of name and id. */
export class PageReader<Row extends object, Filters, Page> {
  /** By the filters that are used. A page is known by its values, as JSON. */
  private readonly pages = new Map<string, SharedRead<string, Page>>();

  /**
   * @param select turns the filters of a request into SQL
   * @param pageOf makes a page, once for all requests that share it; `next` is where the list goes on, null if nothing follows
   */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: (filters: Filters, parameter: Parameter) => Selection,
    private readonly pageOf: (rows: Row[], next: ListPosition | null) => Page,
  ) {}

  /** @param caller the id of the client, whose turn the read takes */
  read({ after, limit }: PageRange, filters: Filters, caller?: number): Promise<Page> {
    const values: unknown[] = [after.id, limit + 1];
    const types: ValueType[] = ['bigint', 'int'];
    const parameter: Parameter = (value, type) => {
      types.push(type);
      return `v${values.push(value)}`;
    };
    const selection = this.select(filters, parameter);
    if (selection.named) {
      parameter(after.name ?? '', 'text');
    }
    const pages = entryOf(this.pages, JSON.stringify(selection), () => this.pagesOf(selection, types));
    return this.database.readByKey(pages, JSON.stringify(values), caller);
  }

  private pagesOf(selection: Selection, types: readonly ValueType[]): SharedRead<string, Page> {
    const { names: columns, name: table, idColumn: id } = this.database.table(this.entity);
    const statement = { text: pagesStatement({ ...selection, columns, table, id }, types) };
    const valuesOf = (key: string) => JSON.parse(key) as [after: number, rows: number, ...unknown[]];
    return {
      maxBatch: selection.long || selection.named?.filters.length ? MAX_BATCH_OF_LONG : MAX_BATCH,
      callFor: (keys) => {
        const wanted = keys.map(valuesOf);
        return { statement, values: types.map((_type, index) => wanted.map((values) => values[index])) };
      },
      resultsOf: (stored, keys) => {
        const pages = keys.map((): StoredRow[] => []);
        stored.forEach((row) => pages[(row.at(-1) as number) - 1]!.push(row));
        return pages.map((rows, index) => this.pageFrom(rows, valuesOf(keys[index]!)[1] - 1, selection));
      },
    };
  }

  /** @param stored at most one row more than the page has: the next page starts there */
  private pageFrom(stored: StoredRow[], limit: number, { named, long = [] }: Selection): Page {
    const table = this.database.table(this.entity);
    const rows = stored.map((row) => table.rowOf(row));
    let bytes = 0;
    const end = rows.findIndex((row, place) => {
      bytes += BYTES_BESIDES + bytesOf(row, long);
      const isTooLarge = place > 0 && bytes > MAX_PAGE_BYTES;
      // In a list by name, the last columns are the lower-case name, whether the row is one of the list, and the place of the page.
      return place === limit || isTooLarge || (named && stored[place]!.at(-2) === false);
    });
    if (end === -1) {
      return this.pageOf(rows, null);
    }
    const name = named && (stored[end]!.at(-3) as string);
    return this.pageOf(rows.slice(0, end), { id: table.idOf(rows[end]!) - 1, name });
  }
}

function bytesOf(row: object, properties: readonly string[]): number {
  const texts = properties.map((property) => JSON.stringify(Reflect.get(row, property)));
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

// The SQL for one page of a list. Its duration must not depend on how many rows the table has or where the matching rows
// are, so the statements leave the planner no choice that depends on estimates.

/** A list whose pages are read. In all of its SQL, `after` is the id before the page and `most` the number of rows. */
interface List extends Selection {
  /** Plain column names. */
  columns: string;
  table: string;
  id: string;
}

/** Reads pages, with arrays of their values. Each row ends with the place of its page. The join is a loop, in order. */
function pagesStatement(list: List, types: readonly ValueType[]): string {
  const { named } = list;
  const page = named ? namedPage(list, named, `v${types.length}`) : pageById(list);
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = types.map((_type, index) => ['after', 'most'][index] ?? `v${index + 1}`).join(', ');
  return `SELECT page.*, wanted.place FROM unnest(${arrays}) WITH ORDINALITY AS wanted (${names}, place)
    CROSS JOIN LATERAL (${page}) AS page`;
}

/**
 * Reads no more rows for each value of `within` than the page has. An index has the rows of one value in order of id, but not those
 * of several, so each is a part. Compared with `=`, the planner could walk the primary key instead and hope to find the value
 * soon; a range must be read in the order of the index. Two indexes that have the column before the id sort it differently, so
 * that the planner cannot confuse them.
 */
function pageById(list: List): string {
  const { id, within } = list;
  const conditions = [...list.conditions, `${id} > after`];
  if (within === undefined) {
    return pagePart(list, conditions, id);
  }
  const { column, sorted, parameters } = within;
  const parts = parameters.map((parameter) => {
    const range = [`${column} >= ${parameter}`, `${column} <= ${parameter}`];
    return pagePart(list, [...conditions, ...range], `${column} ${sorted}, ${id}`);
  });
  if (parts.length === 1) {
    return parts[0]!;
  }
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY ${id} LIMIT most`;
}

/** A generic plan estimates an unknown LIMIT at a tenth of all rows, and would seem too expensive to be kept. */
function pagePart(list: List, conditions: string[], order: string): string {
  const most = select(list, conditions, order, MAX_ROWS);
  return `SELECT * FROM (${most}) AS page ORDER BY ${order} LIMIT most`;
}

/** In the order of code points. The database's own `lower` decides what matches, however a name is looked for. */
const BY_NAME = 'lower(name) COLLATE "C"';
/** Follows everything that starts with the text before it: the last character there is, more often than a name has characters. */
const LAST_NAME = 'repeat(chr(1114111), 256)';

/** Walks through the index from the prefix on. After its columns each row has its lower-case name, and whether it is one of the list, or where a page ends early. */
function namedPage(list: List, { prefix, filters, ids }: NameSearch, afterName: string): string {
  const { columns, table, id, conditions } = list;
  // OFFSET 0 makes PostgreSQL read the rows with these ids first.
  const among = ids && `(SELECT * FROM ${table} WHERE ${id} = ANY(${ids}::bigint[]) OFFSET 0) AS ${table}`;
  const walk = select(
    { ...list, columns: `${columns}, ${BY_NAME} AS lower_name`, table: among ?? table },
    [
      ...conditions,
      `(${BY_NAME}, ${id}) > (greatest(${afterName} COLLATE "C", lower(${prefix})), after)`,
      `${BY_NAME} < lower(${prefix}) || ${LAST_NAME}`,
    ],
    `${BY_NAME}, ${id}`,
    filters.length === 0 ? MAX_ROWS : MAX_LOOKED_AT + 1,
  );
  const order = `lower_name, ${id}`;
  if (filters.length === 0) {
    return `SELECT *, true AS fits FROM (${walk}) AS walk ORDER BY ${order} LIMIT most`;
  }
  return `SELECT ${columns}, lower_name, looked_at <= ${MAX_LOOKED_AT} AS fits
    FROM (SELECT *, row_number() OVER (ORDER BY ${order}) AS looked_at FROM (${walk}) AS walk) AS numbered
    WHERE ${filters.join(' AND ')} OR looked_at > ${MAX_LOOKED_AT} ORDER BY ${order} LIMIT most`;
}

function select({ columns, table }: List, conditions: string[], order: string, most: number): string {
  return `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${most}`;
}
