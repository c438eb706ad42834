// The filters of the pet list as SQL.
import { nameBeginsWith, namePrefix, type Parameter, type Selection } from '#libs/database';
import { PET_STATUSES } from './pet-status';
import type { ListPetsQuery } from './pets.dto';

const IS_THERE = 'deleted_at IS NULL';

export function selectPets(filters: ListPetsQuery, parameter: Parameter): Selection {
  return (filters.id === undefined ? inOrder : amongIds)(filters, parameter);
}

/**
 * Reads at most one page of rows per status. With a name it may read more: the rarer the name is within the status and
 * the category, the more rows.
 */
function inOrder({ status, categoryId, name }: ListPetsQuery, parameter: Parameter): Selection {
  const conditions = [IS_THERE];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId, 'bigint')}`);
  }
  // The index on categories has the status before the id.
  const statuses = status ?? (categoryId === undefined ? undefined : PET_STATUSES);
  const parameters = statuses && [...new Set(statuses)].map((value) => parameter(value, 'text'));
  return {
    conditions,
    within: parameters && {
      column: 'status',
      sorted: categoryId === undefined ? 'ASC' : 'DESC',
      parameters,
    },
    named: name === undefined ? undefined : { prefix: name, indexed: [IS_THERE] },
  };
}

/** There are at most 100 ids, so all of these pets are read, whatever the other filters. */
function amongIds({ id, status, categoryId, name }: ListPetsQuery, parameter: Parameter): Selection {
  const conditions = [IS_THERE, `id = ANY(${parameter(id, 'bigint[]')})`];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId, 'bigint')}`);
  }
  if (status !== undefined) {
    conditions.push(`status = ANY(${parameter(status, 'text[]')})`);
  }
  if (name !== undefined) {
    conditions.push(nameBeginsWith(parameter(namePrefix(name), 'text')));
  }
  return { conditions, isUnprepared: true };
}
