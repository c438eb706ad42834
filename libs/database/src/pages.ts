import type { EntityTarget } from 'typeorm';
import type { Database } from './database';
import { getOrInsert } from './engine/get-or-insert';
import type { CallerId } from './engine/queue';
import type { SharedRead, StoredRow } from './engine/session';

/**
 * Where a page starts: after the entry with this id or, in a list sorted by name, after the entry with this name and id.
 * libs/http declares the same type, because neither library depends on the other.
 */
export interface ListPosition {
  id: number;
  name?: string;
}

export interface PageRange {
  after: ListPosition;
  limit: number;
}

/**
 * Turns the filters of a request into SQL. `parameter` adds a filter value to the parameters of the statement, and
 * returns the SQL expression for that value.
 */
export type Select<Filters> = (filters: Filters, parameter: Parameter) => Selection;
type Parameter = (value: unknown, type: ValueType) => string;
type ValueType = 'bigint' | 'boolean' | 'int' | 'text';

/**
 * The filters of a request in SQL. Each combination of filters needs an index, so that PostgreSQL reads only the rows of
 * the page. The index has first the columns of the SQL conditions in `conditions`, then the column of the filter `anyOf`,
 * and last the id. Instead of a column, the index may have a condition in its own WHERE clause (a partial index). A search
 * by name needs another index (`NameSearch`).
 */
interface Selection {
  conditions: readonly string[];
  /** If set, the list has only rows whose `column` is equal to one of the SQL expressions in `values`. */
  anyOf?: FewValues | undefined;
  named?: NameSearch | undefined;
  /** Properties with long texts. A page ends before these texts exceed 256 KiB. */
  long?: readonly string[];
}

/**
 * A filter by a column with few distinct values, such as a status. The statement gets a subquery for each value in the
 * filter, so the filter must not be used with hundreds of values.
 */
interface FewValues {
  column: string;
  /**
   * The order in which the index for this filter has `column`. The statement reads each value in this order, because PostgreSQL
   * can use the index only then. The order of the page is always that of the ids.
   */
  indexDirection: 'ASC' | 'DESC';
  values: readonly string[];
}

/**
 * A search for names that start with the text in the SQL parameter `prefix`. Needs an index on `(lower(name) COLLATE
 * "C", id)`.
 */
interface NameSearch {
  prefix: string;
  /**
   * SQL conditions on columns that the index on names does not have. The search has to read a row to check them, and so may
   * read many rows for few results. It stops after 2,000 rows, even if the page is not full.
   */
  filters: readonly string[];
  /** The SQL parameter with the ids to which the search is limited. */
  ids?: string | undefined;
}

/** The number of rows of the largest page. */
export const MAX_PAGE_ROWS = 100;
/** A page is read with one additional row. If the additional row exists, another page follows. */
const MAX_ROWS = MAX_PAGE_ROWS + 1;
const MAX_ROWS_READ = 2_000;
const MAX_PAGE_BYTES = 256 * 1024;
const MAX_BYTES_WITHOUT_TEXTS = 64;

const MAX_PAGES_OF_STATEMENT = 50;
const MAX_LONG_PAGES = 4;

/**
 * The positions of the columns that `pagesStatement` adds to each row, counted from the end of the row, because the columns
 * of the entity come first.
 * - `PAGE_NUMBER` says for which of the requested pages the row was read. The first page has the number 1.
 * - `FITS`, only in a search by name: true for a row that belongs on the page. A search stops after reading 2,000 rows, and
 *   then also returns the next row, for which `FITS` is false. This row only says where the next page begins.
 * - `LOWER_NAME`, only in a search by name: the name of the row in lower case.
 */
const [PAGE_NUMBER, FITS, LOWER_NAME] = [-1, -2, -3];

/** Reads a list of an entity's rows page by page, in ascending order of id, or of name and id. */
export class PageReader<Row extends object, Filters, Page> {
  /**
   * One shared read for each combination of filters. The key is the combination as JSON. Requests with equal filters that
   * arrive at the same time get their page from one statement.
   */
  private readonly pages = new Map<string, SharedRead<string, Page>>();

  /**
   * @param toPage creates a page from its rows; `next` is the start of the next page, or null after the last page
   */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: Select<Filters>,
    private readonly toPage: (rows: Row[], next: ListPosition | null) => Page,
  ) {}

  read({ after, limit }: PageRange, filters: Filters, callerId: CallerId): Promise<Page> {
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
    const pages = getOrInsert(this.pages, JSON.stringify(selection), () => this.sharedRead(selection, types));
    return this.database.reads.readByKey(pages, JSON.stringify(values), callerId);
  }

  private sharedRead(selection: Selection, types: readonly ValueType[]): SharedRead<string, Page> {
    const { columnNames: columns, source: table, idColumn: id } = this.database.table(this.entity);
    const text = pagesStatement({ ...selection, columns, table, id }, types);
    const valuesOf = (key: string) => JSON.parse(key) as [after: number, rows: number, ...unknown[]];
    return {
      maxKeys: selection.long || selection.named?.filters.length ? MAX_LONG_PAGES : MAX_PAGES_OF_STATEMENT,
      statementFor: (keys) => {
        const wanted = keys.map(valuesOf);
        return { text, values: types.map((_type, index) => wanted.map((values) => values[index])) };
      },
      resultsOf: (stored, keys) => {
        const pages = keys.map((): StoredRow[] => []);
        stored.forEach((row) => pages[(row.at(PAGE_NUMBER) as number) - 1]!.push(row));
        return pages.map((rows, index) => this.pageFrom(rows, valuesOf(keys[index]!)[1] - 1, selection));
      },
    };
  }

  private pageFrom(stored: StoredRow[], limit: number, { named, long = [] }: Selection): Page {
    const table = this.database.table(this.entity);
    const rows = stored.map((row) => table.rowOf(row));
    let bytes = 0;
    const end = rows.findIndex((row, index) => {
      bytes += MAX_BYTES_WITHOUT_TEXTS + bytesOf(row, long);
      const isTooLarge = index > 0 && bytes > MAX_PAGE_BYTES;
      return index === limit || isTooLarge || (named && stored[index]!.at(FITS) === false);
    });
    if (end === -1) {
      return this.toPage(rows, null);
    }
    const name = named && (stored[end]!.at(LOWER_NAME) as string);
    return this.toPage(rows.slice(0, end), { id: table.idOf(rows[end]!) - 1, name });
  }
}

function bytesOf(row: object, properties: readonly string[]): number {
  const texts = properties.map((property) => JSON.stringify(Reflect.get(row, property)));
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** The filters and the table of a list, from which the SQL for pages is built. */
interface List extends Selection {
  columns: string;
  table: string;
  id: string;
}

/** Returns a statement that reads several pages at once. Each parameter is an array with one value per page. */
function pagesStatement(list: List, types: readonly ValueType[]): string {
  const { named } = list;
  const page = named ? namedPage(list, named, `v${types.length}`) : pageById(list);
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = types.map((_type, index) => ['after', 'most'][index] ?? `v${index + 1}`).join(', ');
  return `SELECT page.*, wanted.place FROM unnest(${arrays}) WITH ORDINALITY AS wanted (${names}, place)
    CROSS JOIN LATERAL (${page}) AS page`;
}

/**
 * Returns the SQL for one page in order of id. Each value of `anyOf` has a subquery of its own, because the index has the
 * rows of one value in order of id. A single subquery for all values would have to sort all matching rows.
 */
function pageById(list: List): string {
  const { id, anyOf } = list;
  const conditions = [...list.conditions, `${id} > after`];
  if (anyOf === undefined) {
    return pagePart(list, conditions, id);
  }
  const { column, indexDirection, values } = anyOf;
  const parts = values.map((value) => {
    const range = [`${column} >= ${value}`, `${column} <= ${value}`];
    return pagePart(list, [...conditions, ...range], `${column} ${indexDirection}, ${id}`);
  });
  if (parts.length === 1) {
    return parts[0]!;
  }
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY ${id} LIMIT most`;
}

/**
 * Returns the SQL for the first rows that meet the conditions, as many as the page needs (`most`). The SQL is a query inside
 * another one. The outer query has the limit `most`, and the inner query has the constant limit MAX_ROWS. PostgreSQL does
 * not know the value of `most` when it plans the statement, so without the constant limit it would plan for too many rows.
 */
function pagePart(list: List, conditions: string[], order: string): string {
  const most = select(list, conditions, order, MAX_ROWS);
  return `SELECT * FROM (${most}) AS page ORDER BY ${order} LIMIT most`;
}

/**
 * The SQL expression by which names are searched and sorted. PostgreSQL's `lower` makes searches ignore case, and the
 * collation `C` sorts by code point.
 */
const BY_NAME = 'lower(name) COLLATE "C"';
const AFTER_ALL_NAMES = 'repeat(chr(1114111), 256)';

/**
 * Returns the SQL for one page of a search by name. A search with filters may have to read many rows to find a few that
 * meet the filters, so it stops after reading 2,000 rows. The page is then short, and the next page goes on from there.
 */
function namedPage(list: List, { prefix, filters, ids }: NameSearch, afterName: string): string {
  const { columns, table, id, conditions } = list;
  // If the search is limited to some ids, read the rows with these ids first, and then check their names. Without
  // OFFSET 0, PostgreSQL would merge this subquery with the search, and could read the rows of all matching names.
  const among = ids && `(SELECT * FROM ${table} WHERE ${id} = ANY(${ids}::bigint[]) OFFSET 0) AS among`;
  const walk = select(
    { ...list, columns: `${columns}, ${BY_NAME} AS lower_name`, table: among ?? table },
    [
      ...conditions,
      `(${BY_NAME}, ${id}) > (greatest(${afterName} COLLATE "C", lower(${prefix})), after)`,
      `${BY_NAME} < lower(${prefix}) || ${AFTER_ALL_NAMES}`,
    ],
    `${BY_NAME}, ${id}`,
    filters.length === 0 ? MAX_ROWS : MAX_ROWS_READ + 1,
  );
  const order = `lower_name, ${id}`;
  if (filters.length === 0) {
    return `SELECT *, true AS fits FROM (${walk}) AS walk ORDER BY ${order} LIMIT most`;
  }
  return `SELECT ${columns}, lower_name, looked_at <= ${MAX_ROWS_READ} AS fits
    FROM (SELECT *, row_number() OVER (ORDER BY ${order}) AS looked_at FROM (${walk}) AS walk) AS numbered
    WHERE ${filters.join(' AND ')} OR looked_at > ${MAX_ROWS_READ} ORDER BY ${order} LIMIT most`;
}

function select({ columns, table }: List, conditions: string[], order: string, most: number): string {
  return `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${most}`;
}
