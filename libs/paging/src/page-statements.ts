// The SQL of one page of a list in ascending id. How long it takes must depend neither on how many rows there are nor on
// where among them those stand that are wanted, so the planner is left no bet on the latter.
import { MAX_PAGE_SIZE } from './page-query';

/** A list, of which a page is asked for. In all of its SQL, $1 is the id to go on after and $2 how many rows are wanted. */
export interface List {
  /** Plain names of columns, those named below among them. */
  columns: string;
  table: string;
  id: string;
  /** Conditions on columns that the list's index begins with. It goes on with `within`, if given, and ends with the id. */
  conditions: readonly string[];
  /** A column of few values, how the index sorts it, and the parameters with those that are wanted, each of them once. */
  within?: { column: string; sorted: 'ASC' | 'DESC'; parameters: readonly string[] };
}

/** A statement for the page, to be prepared; it reads no more rows than the page holds, for each value of `within`. */
export function pageStatement(list: List): string {
  const parts = partsOf(list).map(({ conditions, order }) => {
    // A plan for any values takes an unknown LIMIT for a tenth of all rows, and looks so dear that none is kept.
    const most = select(list, conditions, order, `LIMIT ${MAX_PAGE_SIZE + 1}`);
    return `SELECT * FROM (${most}) AS page ORDER BY ${order} LIMIT $2`;
  });
  return parts.length === 1 ? parts[0]! : firstOf(parts, list);
}

/** Up to so many rows with a name are looked at one by one. */
const FEW = 2_000;
/** The order of `text_pattern_ops`. */
const BY_NAME = 'lower(name) USING ~<~';
const ARE_MANY = `(SELECT count(*) > ${FEW} FROM named)`;

/**
 * A statement for the page of those whose name begins with something. An index has them in the order of names, so as long
 * as they are few, all of them are read and sorted. Of more than that, the next ones are soon met by going through the
 * list in its own order: after `FEW` rows and those of a page in the worst case if they are evenly spread over it, and
 * after as many as there are if they all stand at its end.
 * @param prefix parameter with a `namePrefix`; the statement has to be planned for its value
 * @param indexed conditions of the index `(lower(name) text_pattern_ops, id) INCLUDE (name)`
 */
export function namedPageStatement(list: List, prefix: string, indexed: readonly string[] = []): string {
  const { id, within } = list;
  const hasName = nameBeginsWith(prefix);
  // Wanted in the order of that index, they are read in no other way.
  const named = select({ ...list, columns: id }, [...indexed, hasName], BY_NAME, `LIMIT ${FEW + 1}`);
  const wanted = within === undefined ? [] : [`${within.column} IN (${within.parameters.join(', ')})`];
  const oneByOne = [`${id} = ANY(ARRAY(SELECT ${id} FROM named))`, `NOT ${ARE_MANY}`];
  const few = select(list, [...conditionsOf(list), ...wanted, ...oneByOne], id, 'LIMIT $2');
  // Inside a CASE, the planner has no guess of how frequent the name is, on which it would bet.
  const met = [`CASE WHEN ${hasName} THEN true END`, ARE_MANY];
  const many = partsOf(list).map(({ conditions, order }) =>
    select(list, [...conditions, ...met], order, 'LIMIT $2'),
  );
  return `WITH named AS MATERIALIZED (${named}) ${firstOf([few, ...many], list)}`;
}

/** The condition that an index of names answers. @param prefix parameter with a `namePrefix` */
export function nameBeginsWith(prefix: string): string {
  return `lower(name) LIKE lower(${prefix})`;
}

interface Part {
  conditions: string[];
  order: string;
}

/**
 * An index has the rows of one value in the order of their ids, but not those of several, so each is asked for. Compared
 * with `=`, the value would be known not to matter for the order, and the planner could go through the primary key instead
 * and bet on meeting the value soon; a range it has to read in the order of the index. Two indexes that have the column
 * before the id sort it differently, so that the one with fewer columns cannot be taken for the other.
 */
function partsOf(list: List): Part[] {
  const { id, within } = list;
  const conditions = conditionsOf(list);
  if (within === undefined) {
    return [{ conditions, order: id }];
  }
  const { column, sorted, parameters } = within;
  return parameters.map((parameter) => ({
    conditions: [...conditions, `${column} >= ${parameter}`, `${column} <= ${parameter}`],
    order: `${column} ${sorted}, ${id}`,
  }));
}

function conditionsOf({ conditions, id }: List): string[] {
  return [...conditions, `${id} > $1`];
}

function select({ columns, table }: List, conditions: string[], order: string, end: string): string {
  return `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} ${end}`;
}

function firstOf(parts: string[], { id }: List): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY ${id} LIMIT $2`;
}
