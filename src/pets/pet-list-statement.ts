// How a page of pets is asked for: the first $1 is the id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, namePrefix } from '#libs/database';
import { PET_COLUMNS } from './pet-row';
import type { ListPetsQuery } from './pets.dto';

type Statement = PreparedStatement & { values: unknown[] };

type Filters = Pick<ListPetsQuery, 'status' | 'categoryId' | 'name' | 'id'>;

/** @param after id of the last pet of the page before; @param rows number of rows */
export function petListStatement(
  { status, categoryId, name, id }: Filters,
  after: number,
  rows: number,
): Statement {
  const values: unknown[] = [after, rows];
  const conditions = ['deleted_at IS NULL', 'id > $1'];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId)}`);
  }
  if (id !== undefined) {
    conditions.push(`id = ANY(${parameter(id)}::bigint[])`);
  }
  if (name !== undefined) {
    conditions.push(`lower(name) LIKE lower(${parameter(namePrefix(name))})`);
  }
  // An index in the order of status and id has the rows of one status in order, but not those of several.
  const branches =
    status === undefined
      ? [select(conditions)]
      : [...new Set(status)].map((one) => select([...conditions, `status = ${parameter(one)}`]));
  return { name: nameOf({ status, categoryId, name, id }), text: union(branches), values };
}

function select(conditions: string[]): string {
  return `SELECT ${PET_COLUMNS} FROM pets WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT $2`;
}

function union(branches: string[]): string {
  return branches.length === 1
    ? branches[0]!
    : `SELECT * FROM (${branches.map((branch) => `(${branch})`).join(' UNION ALL ')}) AS pets ORDER BY id LIMIT $2`;
}

/** Where the best plan depends on how frequent a status, a category or a name is, there is no name. */
function nameOf({ status, categoryId, name, id }: Filters): string | undefined {
  if (status !== undefined || categoryId !== undefined || name !== undefined) {
    return undefined;
  }
  return id === undefined ? 'pets-page' : 'pets-page-by-ids';
}
