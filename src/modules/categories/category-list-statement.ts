// How a page of categories is asked for: the first $1 is the id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, namePrefix } from '#libs/database';
import { namedPageStatement, pageStatement } from '#libs/paging';
import type { ListCategoriesQuery } from './categories.dto';

type Statement = PreparedStatement & { values: unknown[] };

/** @param after id of the last category of the page before; @param rows number of rows */
export function categoryListStatement(
  columns: string,
  { name }: Pick<ListCategoriesQuery, 'name'>,
  after: number,
  rows: number,
): Statement {
  const categories = { columns, table: 'categories', id: 'id', conditions: [] };
  if (name === undefined) {
    return { name: 'categories-page', text: pageStatement(categories), values: [after, rows] };
  }
  const text = namedPageStatement(categories, '$3');
  return { text, values: [after, rows, namePrefix(name)] };
}
