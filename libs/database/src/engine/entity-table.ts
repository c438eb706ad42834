import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import type { DataSource, EntityTarget, ValueTransformer } from 'typeorm';
import { getOrInsert } from './get-or-insert';
import { Insert, columnsOf, rowsFromArrays } from './insert';
import type { SharedRead, Statement, StoredRow } from './session';
import type { Lookup, RowLock } from './state';

const MAX_KEYS = 500;

/**
 * Builds the statements that load and write rows of an entity by primary key. The first column must be the primary key,
 * a `bigint`.
 */
export class EntityTable<Row extends object> {
  /**
   * The text that follows FROM in a SELECT: the name of the table or, for a view, the query of the view in parentheses.
   * A view entity is a named subquery here, because each SELECT contains the query and the database needs no such view.
   */
  readonly source: string;
  readonly idColumn: string;
  /** The column names, separated by commas, for a SELECT whose rows `rowOf` can convert. */
  readonly columnNames: string;
  readonly byId: SharedRead<number, Row | null>;
  /** Checks whether rows of other tables refer to a row, before the row is deleted. */
  readonly isReferenced: Lookup<number, boolean>;
  private readonly columns: ColumnMetadata[];
  private readonly drawIds: string;
  private readonly inserts: Insert;
  private readonly updateOne: string;
  private readonly updateMany: string;
  private readonly deletes: string;
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
    this.updateOne = `UPDATE ${name} SET ${changes((_column, index) => `$${index + 2}`)} WHERE ${id} = $1`;
    this.updateMany = `UPDATE ${name} SET ${changes((column) => `changed.${column}`)} FROM ${rowsFromArrays(types)} AS changed (${this.columnNames})
        WHERE ${name}.${id} = changed.${id}`;
    this.deletes = `DELETE FROM ${name} WHERE ${id} = ANY($1::bigint[])`;
    this.byId = this.reader('');
    // Each subquery ends with LIMIT 1. With EXISTS, PostgreSQL may choose a plan that reads the whole table.
    const references = dataSource.entityMetadatas
      .flatMap(({ foreignKeys }) => foreignKeys)
      .filter(({ referencedEntityMetadata }) => referencedEntityMetadata === metadata)
      .map(
        ({ entityMetadata, columnNames }) =>
          `(SELECT true FROM ${entityMetadata.tableName} WHERE ${columnNames[0]} = wanted.id LIMIT 1)`,
      );
    const referenced = `SELECT coalesce(${[...references, 'false'].join(', ')})
        FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) ORDER BY place`;
    this.isReferenced = {
      name: `what refers to ${name}`,
      isUnderLocks: true,
      statementFor: (ids) => ({ text: referenced, values: [ids] }),
      resultsOf: (rows) => rows.map(([isFound]) => isFound as boolean),
    };
    this.drawIds = `SELECT nextval('${name}_${id}_seq') FROM generate_series(1, $1::int)`;
  }

  idOf(row: Row): number {
    return Reflect.get(row, this.columns[0]!.propertyName) as number;
  }

  /** Reads and locks rows by id. Rows are locked in ascending order of id, so that two transactions cannot deadlock. */
  locked(lock: RowLock, whenLocked: 'wait' | 'skip'): SharedRead<number, Row | null> {
    const clause = `${lock}${whenLocked === 'skip' ? ' SKIP LOCKED' : ''}`;
    return getOrInsert(this.locking, clause, () => this.reader(clause));
  }

  /** Draws new ids from the table's sequence, one for each row of the result. An id that is not used leaves a gap. */
  newIds(count: number): Statement {
    return { text: this.drawIds, values: [count] };
  }

  insert(rows: readonly Row[]): Statement {
    return this.inserts.statementFor(rows.map((row) => this.stored(row)));
  }

  update(rows: readonly Row[]): Statement {
    const stored = rows.map((row) => this.stored(row));
    return stored.length === 1
      ? { text: this.updateOne, values: stored[0]! }
      : { text: this.updateMany, values: columnsOf(stored) };
  }

  delete(rows: readonly Row[]): Statement {
    return { text: this.deletes, values: [rows.map((row) => this.idOf(row))] };
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
    const one = `${select} = $1 ${lock}`.trimEnd();
    const many = `${select} = ANY($1::bigint[])${order} ${lock}`.trimEnd();
    return {
      maxKeys: MAX_KEYS,
      statementFor: (ids) => (ids.length === 1 ? { text: one, values: ids } : { text: many, values: [ids] }),
      resultsOf: (stored, ids) => {
        const rows = new Map(stored.map((values) => this.rowOf(values)).map((row) => [this.idOf(row), row]));
        return ids.map((id) => rows.get(id) ?? null);
      },
    };
  }

  private stored(row: Row): unknown[] {
    return this.columns.map(({ propertyName, transformer }): unknown => {
      const value: unknown = Reflect.get(row, propertyName);
      return transformer ? (transformer as ValueTransformer).to(value) : value;
    });
  }
}
