import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import {
  type DataSource,
  DefaultNamingStrategy,
  type EntityTarget,
  PrimaryGeneratedColumn,
  type Table,
  type ValueTransformer,
} from 'typeorm';
import type { SharedRead } from './reads';
import type { Statement, StoredRow } from './session';

/** Rows that one statement reads by id. */
const MAX_BATCH = 500;

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

/**
 * Statements that load and write many rows of an entity at once, built from its column decorators. The first column is the
 * key, a `bigint`. All are prepared: they use `= ANY($1)` and `unnest`, because a list would need another text for every
 * length.
 */
export class EntityTable<Row extends object> {
  private readonly columns: Column[];
  private readonly statements = new Map<string, Statement>();
  readonly name: string;
  /** The columns' names, for a SELECT whose rows `rowOf` reads. */
  readonly names: string;
  /** Reads rows by id; null for one that does not exist. */
  readonly byId: SharedRead<number, Row | null> = {
    maxBatch: MAX_BATCH,
    statementFor: (ids) => ({ ...this.load(), values: [[...new Set(ids)]] }),
    resultsOf: (stored, ids) => {
      const rows = new Map(stored.map(this.rowOf, this).map((row) => [this.idOf(row), row]));
      return ids.map((id) => rows.get(id) ?? null);
    },
  };

  /** @param entity a class with TypeORM's `@Entity` or `@ViewEntity`; its first column is the key */
  constructor(dataSource: DataSource, entity: EntityTarget<Row>) {
    const metadata = dataSource.getMetadata(entity);
    this.name = metadata.tableName;
    this.columns = metadata.columns.filter(({ isSelect }) => isSelect).map(columnOf);
    this.names = this.columns.map(({ name }) => name).join(', ');
  }

  idOf(row: Row): number {
    return (row as Record<string, unknown>)[this.key.property] as number;
  }

  /**
   * One `bigint[]` as `$1`. With a lock, rows are locked in ascending order of id, so that transactions cannot
   * deadlock.
   */
  load(lock?: RowLock, locked: 'wait' | 'skip' = 'wait'): Statement {
    const end = lock === undefined ? '' : `${lock}${locked === 'skip' ? ' SKIP LOCKED' : ''}`;
    return this.statement(`load ${end}`.trimEnd(), () => {
      const text = `SELECT ${this.names} FROM ${this.name} WHERE ${this.key.name} = ANY($1::bigint[])`;
      return end === '' ? text : `${text} ORDER BY ${this.key.name} ${end}`;
    });
  }

  /** Takes the `columnsOf` the rows. */
  insert(): Statement {
    return this.statement(
      'insert',
      () =>
        `INSERT INTO ${this.name} (${this.names}) OVERRIDING SYSTEM VALUE SELECT * FROM ${rowsOf(this.columns)}`,
    );
  }

  /** Takes the `columnsOf` the rows, and writes all columns but the key. */
  update(): Statement {
    return this.statement('update', () => {
      const assignments = this.columns.slice(1).map(({ name }) => `${name} = changed.${name}`);
      return `UPDATE ${this.name} SET ${assignments.join(', ')} FROM ${rowsOf(this.columns)} AS changed (${this.names})
        WHERE ${this.name}.${this.key.name} = changed.${this.key.name}`;
    });
  }

  /** One `bigint[]` as `$1`. */
  delete(): Statement {
    return this.statement(
      'delete',
      () => `DELETE FROM ${this.name} WHERE ${this.key.name} = ANY($1::bigint[])`,
    );
  }

  /** Returns `$1` new keys, as rows with an `id`. Unused keys are lost. */
  newIds(): Statement {
    return this.statement(
      'new ids',
      () => `SELECT nextval('${this.name}_${this.key.name}_seq') AS id FROM generate_series(1, $1::int)`,
    );
  }

  /** An array of values for each column. */
  columnsOf(rows: readonly Row[]): unknown[][] {
    return this.columns.map(({ property, toStored }) =>
      rows.map((row) => asText(toStored((row as Record<string, unknown>)[property]))),
    );
  }

  /** @param stored the columns of a row, in the order of `names` */
  rowOf(stored: StoredRow): Row {
    const row: Record<string, unknown> = {};
    this.columns.forEach(({ property, fromStored }, index) => {
      row[property] = fromStored(stored[index]);
    });
    return row as Row;
  }

  /** Name of the key's column. */
  get idColumn(): string {
    return this.key.name;
  }

  private get key(): Column {
    return this.columns[0]!;
  }

  /** Built on first use. */
  private statement(purpose: string, text: () => string): Statement {
    let statement = this.statements.get(purpose);
    if (statement === undefined) {
      statement = { text: text() };
      this.statements.set(purpose, statement);
    }
    return statement;
  }
}

function rowsOf(columns: readonly Column[]): string {
  return `unnest(${columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

function columnOf({ propertyName, databaseName, type, transformer }: ColumnMetadata): Column {
  const [{ to, from } = { to: same, from: same }] = [transformer ?? []].flat();
  return {
    property: propertyName,
    name: databaseName,
    type: typeof type === 'string' ? type : 'text',
    toStored: to.bind(undefined) as Column['toStored'],
    fromStored: from.bind(undefined) as Column['fromStored'],
  };
}

/**
 * In an array, the driver would write a Date in the time zone of the machine, and drop the seconds of historical
 * offsets.
 */
function asText(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function same(value: unknown): unknown {
  return value;
}

/**
 * Turns a PostgreSQL `bigint`, which the driver returns as text, into a number.
 * @throws RangeError above 2^53 - 1, where a JSON number would silently lose precision.
 */
export function int8ToNumber(text: string | number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} cannot be carried exactly by a number.`);
  }
  return value;
}

/** For `@Column({ type: 'bigint', transformer: int8 })`. */
export const int8: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: string | number | null) => (value === null ? null : int8ToNumber(value)),
};

/** Column decorator: a primary key that the database assigns, as a number. */
export function GeneratedId(): PropertyDecorator {
  // TypeORM supports a transformer here, but the type of the options lacks it.
  const options = { type: 'bigint', generatedIdentity: 'ALWAYS', transformer: int8 } as const;
  return PrimaryGeneratedColumn('identity', options as object);
}

/** For a column that the database maintains, or a statement of its own: `EntityTable` and repositories leave it alone. */
export const OF_THE_DATABASE = { select: false, insert: false, update: false } as const;

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
