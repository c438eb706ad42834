import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import {
  type DataSource,
  DefaultNamingStrategy,
  type EntityTarget,
  PrimaryGeneratedColumn,
  type Table,
} from 'typeorm';
import type { SharedRead, Statement, StoredRow } from './session';

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
  readonly name: string;
  /** Name of the key's column. */
  readonly idColumn: string;
  /** The columns' names, for a SELECT whose rows `rowOf` reads. */
  readonly names: string;
  /** Reads rows by id; null for one that does not exist. */
  readonly byId: SharedRead<number, Row | null> = {
    maxBatch: MAX_BATCH,
    statementFor: (ids) => [this.load(), [ids]],
    resultsOf: (stored, ids) => {
      const rows = new Map(stored.map((one) => this.rowOf(one)).map((row) => [this.idOf(row), row]));
      return ids.map((id) => rows.get(id) ?? null);
    },
  };
  /** Takes the `columnsOf` the rows. */
  readonly insert: Statement;
  /** Takes the `columnsOf` the rows, and writes all columns but the key. */
  readonly update: Statement;
  /** One `bigint[]` as `$1`. */
  readonly delete: Statement;
  /** Returns `$1` new keys, as rows with an `id`. Unused keys are lost. */
  readonly newIds: Statement;
  /** Reads the columns of a row in the order of `names`. Written out for the table, because a loop takes three times as long. */
  readonly rowOf: (stored: StoredRow) => Row;
  private readonly key: Column;

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
    const rows = `unnest(${this.columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})`;
    const changes = this.columns.slice(1).map((column) => `${column.name} = changed.${column.name}`);
    this.insert = {
      text: `INSERT INTO ${name} (${this.names}) OVERRIDING SYSTEM VALUE SELECT * FROM ${rows}`,
    };
    this.update = {
      text: `UPDATE ${name} SET ${changes.join(', ')} FROM ${rows} AS changed (${this.names})
        WHERE ${name}.${id} = changed.${id}`,
    };
    this.delete = { text: `DELETE FROM ${name} WHERE ${id} = ANY($1::bigint[])` };
    this.newIds = { text: `SELECT nextval('${name}_${id}_seq') AS id FROM generate_series(1, $1::int)` };
  }

  idOf(row: Row): number {
    return (row as Record<string, unknown>)[this.key.property] as number;
  }

  /**
   * One `bigint[]` as `$1`. With a lock, rows are locked in ascending order of id, so that transactions cannot
   * deadlock.
   */
  load(lock?: RowLock, locked: 'wait' | 'skip' = 'wait'): Statement {
    const text = `SELECT ${this.names} FROM ${this.name} WHERE ${this.idColumn} = ANY($1::bigint[])`;
    const skip = locked === 'skip' ? ' SKIP LOCKED' : '';
    return { text: lock === undefined ? text : `${text} ORDER BY ${this.idColumn} ${lock}${skip}` };
  }

  /** An array of values for each column. */
  columnsOf(rows: readonly Row[]): unknown[][] {
    return this.columns.map(({ property, toStored }) =>
      rows.map((row) => asText(toStored((row as Record<string, unknown>)[property]))),
    );
  }
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

/** Column decorator: a primary key that the database assigns, as a number. */
export function GeneratedId(): PropertyDecorator {
  return PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' });
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
