// How a page of categories is asked for: the first $1 is the id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, int8ToNumber, namePrefix } from '#libs/database';
import { namedPageStatement, pageStatement } from '#libs/paging';
import type { ListCategoriesQuery } from './categories.dto';
import type { Category } from './category.entity';

type Statement = PreparedStatement & { values: unknown[] };

/** A category as the driver hands it over. */
export interface CategoryRow {
  id: string;
  name: string;
  description: string | null;
}

const CATEGORIES = { columns: 'id, name, description', table: 'categories', id: 'id', conditions: [] };

/** @param after id of the last category of the page before; @param rows number of rows */
export function categoryListStatement(
  { name }: Pick<ListCategoriesQuery, 'name'>,
  after: number,
  rows: number,
): Statement {
  if (name === undefined) {
    return { name: 'categories-page', text: pageStatement(CATEGORIES), values: [after, rows] };
  }
  const text = namedPageStatement(CATEGORIES, '$3');
  return { text, values: [after, rows, namePrefix(name)] };
}

export function categoryOf({ id, name, description }: CategoryRow): Category {
  return { id: int8ToNumber(id), name, description };
}
