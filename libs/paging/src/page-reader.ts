import type { EntityTarget } from 'typeorm';
import { type Database, type EntityTable, type PreparedStatement, namePrefix } from '#libs/database';
import { idBefore } from './cursor';
import { type Page, pageOf } from './page';
import type { PageQuery } from './page-query';
import { type List, namedPageStatement, pageStatement } from './page-statements';

/** Adds a value to a statement and returns its placeholder. */
export type Parameter = (value: unknown) => string;

/** The requested entries of a list. */
export interface Selection extends Pick<List, 'conditions' | 'within'> {
  /** The name of the prepared statement, unique per text; omitted for a statement that is planned for its values. */
  statement?: string;
  /** Only entries whose name starts with this text. Such a statement is planned for its values, so it has no name. */
  named?: { prefix: string; indexed?: readonly string[] };
}

/** Reads the pages of a list, whose entries are the rows of an entity in ascending order of id. */
export class PageReader<Row extends object, Query extends PageQuery> {
  /** @param select turns the filters of a request into SQL */
  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
    private readonly select: (filters: Query, parameter: Parameter) => Selection,
  ) {}

  /** @throws ApiError 400 `invalid_cursor` */
  async read(query: Query): Promise<Page<Row>> {
    const values: unknown[] = [idBefore(query.cursor), query.limit + 1];
    const parameter: Parameter = (value) => `$${values.push(value)}`;
    const table = this.database.table(this.entity);
    const statement = statementOf(table, this.select(query, parameter), parameter);
    const rows = await this.database.rows(this.entity, { ...statement, values });
    return pageOf(rows, query.limit, (row) => table.idOf(row));
  }
}

function statementOf<Row extends object>(
  { names: columns, name: table, idColumn: id }: EntityTable<Row>,
  { statement, named, conditions, within }: Selection,
  parameter: Parameter,
): PreparedStatement {
  const list: List = { columns, table, id, conditions, within };
  return named === undefined
    ? { name: statement, text: pageStatement(list) }
    : { text: namedPageStatement(list, parameter(namePrefix(named.prefix)), named.indexed) };
}
