// How a page of pets is asked for: the first $1 is the id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, namePrefix } from '#libs/database';
import { type List, nameBeginsWith, namedPageStatement, pageStatement } from '#libs/paging';
import { PET_STATUSES } from './pet-status';
import type { ListPetsQuery } from './pets.dto';

type Statement = PreparedStatement & { values: unknown[] };

type Filters = Pick<ListPetsQuery, 'status' | 'categoryId' | 'name' | 'id'>;

/** Adds a value; what stands for it in the statement. */
type Parameter = (value: unknown) => string;

const IS_THERE = 'deleted_at IS NULL';
const PETS = { table: 'pets', id: 'id' };

/** @param after id of the last pet of the page before; @param rows number of rows */
export function petListStatement(columns: string, filters: Filters, after: number, rows: number): Statement {
  const values: unknown[] = [after, rows];
  const parameter: Parameter = (value) => `$${values.push(value)}`;
  return { ...(filters.id === undefined ? inOrder : amongIds)(columns, filters, parameter), values };
}

/**
 * Reads no more rows than make a page, of each status; what it reads with a name depends on the name, and it is the more
 * the rarer the name is within the status and the category.
 */
function inOrder(
  columns: string,
  { status, categoryId, name }: Filters,
  parameter: Parameter,
): PreparedStatement {
  const conditions = [IS_THERE];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId)}`);
  }
  // The index of a category has the status before the id.
  const statuses = status ?? (categoryId === undefined ? undefined : PET_STATUSES);
  const parameters = statuses && [...new Set(statuses)].map(parameter);
  const sorted = categoryId === undefined ? 'ASC' : 'DESC';
  const list: List = {
    ...PETS,
    columns,
    conditions,
    within: parameters && { column: 'status', sorted, parameters },
  };
  if (name !== undefined) {
    // Without a name of its own: what begins with something is found in an index only when planned for that.
    return { text: namedPageStatement(list, parameter(namePrefix(name)), [IS_THERE]) };
  }
  const ofCategory = categoryId === undefined ? '' : '-of-category';
  const ofStatuses = parameters === undefined ? '' : `-of-${parameters.length}-statuses`;
  return { name: `pets-page${ofCategory}${ofStatuses}`, text: pageStatement(list) };
}

/** There are at most a hundred ids: whatever else is asked for, each of these pets is looked at. */
function amongIds(
  columns: string,
  { id, status, categoryId, name }: Filters,
  parameter: Parameter,
): PreparedStatement {
  const conditions = [IS_THERE, `id = ANY(${parameter(id)}::bigint[])`];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId)}`);
  }
  if (status !== undefined) {
    conditions.push(`status = ANY(${parameter(status)}::text[])`);
  }
  if (name !== undefined) {
    conditions.push(nameBeginsWith(parameter(namePrefix(name))));
  }
  return { text: pageStatement({ ...PETS, columns, conditions }) };
}
