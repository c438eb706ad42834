import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { type DataSource, type EntityTarget, PrimaryGeneratedColumn, type ValueTransformer } from 'typeorm';
import { getOrInsert } from './get-or-insert';
import type { Call, SharedRead, Statement, StoredRow } from './session';
import type { Lookup, RowLock } from './state';

const MAX_KEYS = 500;

/** Maximum rows that are inserted with a list of values. For more rows, one array per column is faster. */
const MAX_LISTED = 4;

export type WhenLocked = 'wait' | 'skip';

/**
 * Builds the statements that load and write rows of an entity by primary key. The first column must be the primary key,
 * a `bigint`.
 */
export class EntityTable<Row extends object> {
  /** The table, or the query of a view in parentheses, as it stands after FROM. */
  readonly source: string;
  readonly idColumn: string;
  /** The column names, separated by commas, for a SELECT whose rows `rowOf` can convert. */
  readonly columnNames: string;
  readonly byId: SharedRead<number, Row | null>;
  /** Checks whether rows of other tables refer to a row, before the row is deleted. */
  readonly isReferenced: Lookup<number, boolean>;
  private readonly columns: ColumnMetadata[];
  /** Draws new ids from the table's sequence. An id that is drawn but not used leaves a gap. */
  readonly newIds: SharedRead<unknown, number>;
  private readonly inserts: Insert;
  private readonly updates: Forms;
  private readonly deletes: Forms;
  private readonly locking = new Map<string, SharedRead<number, Row | null>>();

  constructor(dataSource: DataSource, entity: EntityTarget<Row>) {
    const metadata = dataSource.getMetadata(entity);
    const name = metadata.tableName;
    this.source = metadata.tableType === 'view' ? `(${String(metadata.expression)}) AS ${name}` : name;
    this.columns = metadata.columns.filter(({ isSelect }) => isSelect);
    const names = this.columns.map(({ databaseName }) => databaseName);
    const [id, ...others] = names as [string, ...string[]];
    this.idColumn = id;
    this.columnNames = names.join(', ');
    const types = this.columns.map(({ type }) => (typeof type === 'string' ? type : 'text'));
    const changes = (value: (column: string, index: number) => string): string =>
      others.map((column, index) => `${column} = ${value(column, index)}`).join(', ');
    this.inserts = new Insert(`INSERT INTO ${name} (${this.columnNames}) OVERRIDING SYSTEM VALUE`, types);
    this.updates = {
      one: { text: `UPDATE ${name} SET ${changes((_column, index) => `$${index + 2}`)} WHERE ${id} = $1` },
      many: {
        text: `UPDATE ${name} SET ${changes((column) => `changed.${column}`)} FROM ${unnest(types)} AS changed (${this.columnNames})
        WHERE ${name}.${id} = changed.${id}`,
      },
    };
    this.deletes = {
      one: { text: `DELETE FROM ${name} WHERE ${id} = $1` },
      many: { text: `DELETE FROM ${name} WHERE ${id} = ANY($1::bigint[])` },
    };
    this.byId = this.reader('');
    // Each subquery ends with LIMIT 1. With EXISTS, PostgreSQL may choose a plan that reads the whole table.
    const references = dataSource.entityMetadatas
      .flatMap(({ foreignKeys }) => foreignKeys)
      .filter(({ referencedEntityMetadata }) => referencedEntityMetadata === metadata)
      .map(
        ({ entityMetadata, columnNames }) =>
          `(SELECT true FROM ${entityMetadata.tableName} WHERE ${columnNames[0]} = wanted.id LIMIT 1)`,
      );
    const referenced: Statement = {
      text: `SELECT coalesce(${[...references, 'false'].join(', ')})
        FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) ORDER BY place`,
    };
    this.isReferenced = {
      name: `what refers to ${name}`,
      isUnderLocks: true,
      callFor: (ids) => ({ statement: referenced, values: [ids] }),
      resultsOf: (rows) => rows.map(([isFound]) => isFound as boolean),
    };
    const newIds: Statement = {
      text: `SELECT nextval('${name}_${id}_seq') FROM generate_series(1, $1::int)`,
    };
    this.newIds = {
      callFor: ({ length }) => ({ statement: newIds, values: [length] }),
      resultsOf: (rows) => rows.map(([next]) => next as number),
    };
  }

  idOf(row: Row): number {
    return Reflect.get(row, this.columns[0]!.propertyName) as number;
  }

  /** Reads and locks rows by id. Rows are locked in ascending order of id, so that two transactions cannot deadlock. */
  locked(lock: RowLock, whenLocked: WhenLocked): SharedRead<number, Row | null> {
    const clause = `${lock}${whenLocked === 'skip' ? ' SKIP LOCKED' : ''}`;
    return getOrInsert(this.locking, clause, () => this.reader(clause));
  }

  insert(rows: readonly Row[]): Call {
    return this.inserts.callFor(rows.map((row) => this.stored(row)));
  }

  update(rows: readonly Row[]): Call {
    const stored = rows.map((row) => this.stored(row));
    return stored.length === 1
      ? { statement: this.updates.one, values: stored[0]! }
      : { statement: this.updates.many, values: columnsOf(stored) };
  }

  delete(rows: readonly Row[]): Call {
    return callWith(
      this.deletes,
      rows.map((row) => this.idOf(row)),
    );
  }

  rowOf(stored: StoredRow): Row {
    const row: Record<string, unknown> = {};
    this.columns.forEach(({ propertyName, transformer }, at) => {
      row[propertyName] = transformer ? (transformer as ValueTransformer).from(stored[at]) : stored[at];
    });
    return row as Row;
  }

  private reader(lock: string): SharedRead<number, Row | null> {
    const select = `SELECT ${this.columnNames} FROM ${this.source} WHERE ${this.idColumn}`;
    const order = lock === '' ? '' : ` ORDER BY ${this.idColumn}`;
    const forms: Forms = {
      one: { text: `${select} = $1 ${lock}`.trimEnd() },
      many: { text: `${select} = ANY($1::bigint[])${order} ${lock}`.trimEnd() },
    };
    return {
      maxKeys: MAX_KEYS,
      callFor: (ids) => callWith(forms, ids),
      resultsOf: (stored, ids) => {
        const rows = new Map(stored.map((one) => this.rowOf(one)).map((row) => [this.idOf(row), row]));
        return ids.map((id) => rows.get(id) ?? null);
      },
    };
  }

  /**
   * Returns the column values of an entity. Dates become ISO text, because the driver writes some dates in arrays
   * inexactly.
   */
  private stored(row: Row): unknown[] {
    return this.columns.map(({ propertyName, transformer }) => {
      const value: unknown = Reflect.get(row, propertyName);
      const stored: unknown = transformer ? (transformer as ValueTransformer).to(value) : value;
      return stored instanceof Date ? stored.toISOString() : stored;
    });
  }
}

interface Forms {
  one: Statement;
  many: Statement;
}

function callWith({ one, many }: Forms, ids: readonly number[]): Call {
  return ids.length === 1 ? { statement: one, values: ids } : { statement: many, values: [ids] };
}

export class Insert {
  private readonly listed: Statement[];
  private readonly many: Statement;

  /**
   * @param into the start of the statement: `INSERT INTO table (columns)`
   * @param types the SQL types of the columns
   * @param end the end of the statement, such as ` ON CONFLICT …`
   */
  constructor(into: string, types: readonly string[], end = '') {
    const rowOf = (row: number): string =>
      `(${types.map((_type, column) => `$${row * types.length + column + 1}`).join(', ')})`;
    this.listed = Array.from({ length: MAX_LISTED }, (_value, last) => ({
      text: `${into} VALUES ${Array.from({ length: last + 1 }, (_row, row) => rowOf(row)).join(', ')}${end}`,
    }));
    this.many = { text: `${into} SELECT * FROM ${unnest(types)}${end}` };
  }

  /** @param rows at least one row; each row is a list of values in the order of the columns */
  callFor(rows: readonly (readonly unknown[])[]): Call {
    const listed = this.listed[rows.length - 1];
    return listed === undefined
      ? { statement: this.many, values: columnsOf(rows) }
      : { statement: listed, values: rows.length === 1 ? rows[0]! : rows.flat() };
  }
}

/** Returns SQL that turns one array per column into rows, for example `unnest($1::bigint[], $2::text[])`. */
function unnest(types: readonly string[]): string {
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_value, column) => rows.map((row) => row[column]));
}

export function GeneratedId(): PropertyDecorator {
  return PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' });
}

/**
 * Column options for technical text, such as a hash. The values are compared byte by byte, so indexes stay valid if the
 * database's collation changes.
 */
export const BYTEWISE_TEXT = { type: 'text', collation: 'C' } as const;

/** Column options for a column that only SQL statements read and write, and not TypeORM. */
export const WRITTEN_BY_SQL = { select: false, insert: false, update: false } as const;
