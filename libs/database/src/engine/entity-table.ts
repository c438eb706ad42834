import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import {
  type DataSource,
  DefaultNamingStrategy,
  type EntityTarget,
  PrimaryGeneratedColumn,
  type Table,
} from 'typeorm';
import type { Call, Statement, StoredRow } from './pipeline';
import type { SharedRead } from './session';

/** Rows that one statement reads by id. */
const MAX_BATCH = 500;

/** So many rows are listed. Arrays cost PostgreSQL and the driver more for a few rows, and less for many. */
const MAX_LISTED = 4;

/** Row-level locks of PostgreSQL. */
export type RowLock = 'FOR KEY SHARE' | 'FOR NO KEY UPDATE' | 'FOR UPDATE';

interface Column {
  property: string;
  name: string;
  /** PostgreSQL's type, for arrays of values. */
  type: string;
  toStored: (value: unknown) => unknown;
  fromStored: (value: unknown) => unknown;
}

/** How rows are locked: those that another transaction has locked are waited for, or skipped. */
export interface Locking {
  lock: RowLock;
  whenLocked: 'wait' | 'skip';
}

/**
 * The statements that load and write rows of an entity by its key, built from its column decorators. The first column is the
 * key, a `bigint`. Most have two forms: one for a single row, because an array of one costs PostgreSQL half as much again, and one
 * for any number of rows, with `= ANY($1)` and `unnest`, because a list would need another text for every length.
 */
export class EntityTable<Row extends object> {
  readonly name: string;
  /** Name of the key's column. */
  readonly idColumn: string;
  /** The columns' names, for a SELECT whose rows `rowOf` reads. */
  readonly names: string;
  /** Reads rows by id; null for one that does not exist. */
  readonly byId: SharedRead<number, Row | null> = {
    maxBatch: MAX_BATCH,
    callFor: (ids) => this.load(ids),
    resultsOf: (stored, ids) => {
      if (ids.length === 1) {
        return [stored.length === 0 ? null : this.rowOf(stored[0]!)];
      }
      const rows = new Map(stored.map((one) => this.rowOf(one)).map((row) => [this.idOf(row), row]));
      return ids.map((id) => rows.get(id) ?? null);
    },
  };
  /** Reads the columns of a row in the order of `names`. Written out for the table, because a loop takes three times as long. */
  readonly rowOf: (stored: StoredRow) => Row;
  private readonly columns: Column[];
  private readonly key: Column;
  private readonly inserts: Insert;
  private readonly statements: Record<Operation, { one: Statement; many: Statement }>;
  private readonly loads = new Map<string, Statement>();

  /** @param entity a class with TypeORM's `@Entity` or `@ViewEntity`; its first column is the key */
  constructor(dataSource: DataSource, entity: EntityTarget<Row>) {
    const metadata = dataSource.getMetadata(entity);
    const name = metadata.tableName;
    this.name = name;
    this.columns = metadata.columns.filter(({ isSelect }) => isSelect).map(columnOf);
    this.key = this.columns[0]!;
    const id = this.key.name;
    this.idColumn = id;
    this.names = this.columns.map((column) => column.name).join(', ');
    const properties = this.columns.map(({ property, fromStored }, at) =>
      fromStored === same ? `${property}: stored[${at}]` : `${property}: read[${at}](stored[${at}])`,
    );
    // oxlint-disable-next-line typescript/no-implied-eval -- its text has only the names of properties
    const written = new Function('read', `return (stored) => ({ ${properties.join(', ')} });`);
    this.rowOf = (written as (read: Column['fromStored'][]) => typeof this.rowOf)(
      this.columns.map(({ fromStored }) => fromStored),
    );
    const types = this.columns.map(({ type }) => type);
    const changes = (value: (column: Column, index: number) => string): string =>
      this.columns
        .slice(1)
        .map((column, index) => `${column.name} = ${value(column, index)}`)
        .join(', ');
    this.inserts = new Insert(`INSERT INTO ${name} (${this.names}) OVERRIDING SYSTEM VALUE`, types);
    this.statements = {
      update: {
        one: {
          text: `UPDATE ${name} SET ${changes((_column, index) => `$${index + 2}`)} WHERE ${id} = $1`,
        },
        many: {
          text: `UPDATE ${name} SET ${changes((column) => `changed.${column.name}`)} FROM ${unnest(types)} AS changed (${this.names})
        WHERE ${name}.${id} = changed.${id}`,
        },
      },
      delete: {
        one: { text: `DELETE FROM ${name} WHERE ${id} = $1` },
        many: { text: `DELETE FROM ${name} WHERE ${id} = ANY($1::bigint[])` },
      },
      newIds: {
        one: { text: `SELECT nextval('${name}_${id}_seq')` },
        many: { text: `SELECT nextval('${name}_${id}_seq') FROM generate_series(1, $1::int)` },
      },
    };
  }

  idOf(row: Row): number {
    return (row as Record<string, unknown>)[this.key.property] as number;
  }

  /** Loads rows by id. With a lock, they are locked in ascending order of id, so that transactions cannot deadlock. */
  load(ids: readonly number[], locking?: Locking): Call {
    const isOne = ids.length === 1;
    const form = `${isOne} ${locking?.lock} ${locking?.whenLocked}`;
    let statement = this.loads.get(form);
    if (statement === undefined) {
      statement = { text: this.loadText(isOne, locking) };
      this.loads.set(form, statement);
    }
    return { statement, values: isOne ? ids : [ids] };
  }

  /** The keys of the new rows. Unused keys are lost. */
  newIds(count: number): Call {
    const { one, many } = this.statements.newIds;
    return count === 1 ? { statement: one } : { statement: many, values: [count] };
  }

  insert(rows: readonly Row[]): Call {
    return this.inserts.of(rows.map((row) => this.stored(row)));
  }

  /** Writes all columns but the key. */
  update(rows: readonly Row[]): Call {
    const { one, many } = this.statements.update;
    const stored = rows.map((row) => this.stored(row));
    return stored.length === 1
      ? { statement: one, values: stored[0]! }
      : { statement: many, values: columnsOf(stored) };
  }

  delete(ids: readonly number[]): Call {
    const { one, many } = this.statements.delete;
    return ids.length === 1 ? { statement: one, values: ids } : { statement: many, values: [ids] };
  }

  private loadText(isOne: boolean, locking?: Locking): string {
    const select = `SELECT ${this.names} FROM ${this.name} WHERE ${this.idColumn}`;
    const text = isOne ? `${select} = $1` : `${select} = ANY($1::bigint[])`;
    if (locking === undefined) {
      return text;
    }
    const order = isOne ? '' : ` ORDER BY ${this.idColumn}`;
    return `${text}${order} ${locking.lock}${locking.whenLocked === 'skip' ? ' SKIP LOCKED' : ''}`;
  }

  /** The values of the columns, in their order. */
  private stored(row: Row): unknown[] {
    return this.columns.map((column) => storedValue(column, row));
  }
}

type Operation = 'update' | 'delete' | 'newIds';

/** A Date as text: in an array, the driver would write it in the time zone of the machine, without the seconds of historical offsets. */
function storedValue({ property, toStored }: Column, row: object): unknown {
  const value = toStored((row as Record<string, unknown>)[property]);
  return value instanceof Date ? value.toISOString() : value;
}

function columnOf({ propertyName, databaseName, type, transformer }: ColumnMetadata): Column {
  const [{ to, from } = { to: same, from: same }] = [transformer ?? []].flat();
  return {
    property: propertyName,
    name: databaseName,
    type: typeof type === 'string' ? type : 'text',
    toStored: to as Column['toStored'],
    fromStored: from as Column['fromStored'],
  };
}

function same(value: unknown): unknown {
  return value;
}

/** Inserts any number of rows with one statement. */
export class Insert {
  private readonly listed: Statement[];
  private readonly many: Statement;

  /**
   * @param into `INSERT INTO` with the table and its columns
   * @param types of the columns, for arrays
   * @param end of the statement, such as `ON CONFLICT …`
   */
  constructor(into: string, types: readonly string[], end = '') {
    const rowOf = (row: number): string =>
      `(${types.map((_type, column) => `$${row * types.length + column + 1}`).join(', ')})`;
    this.listed = Array.from({ length: MAX_LISTED }, (_value, last) => ({
      text: `${into} VALUES ${Array.from({ length: last + 1 }, (_row, row) => rowOf(row)).join(', ')}${end}`,
    }));
    this.many = { text: `${into} SELECT * FROM ${unnest(types)}${end}` };
  }

  /** @param rows at least one, with the values of the columns */
  of(rows: readonly (readonly unknown[])[]): Call {
    const listed = this.listed[rows.length - 1];
    return listed === undefined
      ? { statement: this.many, values: columnsOf(rows) }
      : { statement: listed, values: rows.length === 1 ? rows[0]! : rows.flat() };
  }
}

/** Rows from an array for each column: `unnest($1::bigint[], $2::text[])`. */
function unnest(types: readonly string[]): string {
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

/** Turns rows into an array for each of their columns, for `unnest`. */
function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_value, column) => rows.map((row) => row[column]));
}

/** Column decorator: a primary key that the database assigns, as a number. */
export function GeneratedId(): PropertyDecorator {
  return PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' });
}

/** For a column that the database maintains, or a statement of its own: `EntityTable` and repositories leave it alone. */
export const MAINTAINED_BY_DATABASE = { select: false, insert: false, update: false } as const;

/** Names constraints as PostgreSQL does for those without a name. */
export class PostgresNames extends DefaultNamingStrategy {
  override primaryKeyName(table: Table | string): string {
    return `${this.getTableName(table)}_pkey`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_fkey`;
  }

  override uniqueConstraintName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_key`;
  }
}
