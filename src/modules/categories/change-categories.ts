import { type Command, type Need, type State, violatesForeignKey } from '#libs/database';
import type { Precondition } from '#libs/http';
import {
  type CategoryDto,
  CategoryInUseError,
  CategoryNotFoundError,
  type NewCategoryDto,
  toCategoryDto,
} from './categories.dto';
import { Category } from './category.entity';

export function createCategory(body: NewCategoryDto): Command<CategoryDto> {
  return {
    needs: [{ newId: Category }],
    decide: (state) => {
      const category = categoryOf(state.newId(Category), body);
      state.insert(Category, category.id, category);
      return toCategoryDto(category);
    },
  };
}

export function replaceCategory(
  id: number,
  body: NewCategoryDto,
  precondition: Precondition,
): Command<CategoryDto> {
  return {
    needs: [{ row: Category, id, lock: 'FOR NO KEY UPDATE' }],
    decide: (state) => {
      precondition.assertHolds(toCategoryDto(foundCategory(state, id)));
      const category = categoryOf(id, body);
      state.update(Category, id, category);
      return toCategoryDto(category);
    },
  };
}

/** The foreign key decides whether pets use the category: after a check in advance, another request could still add one. */
export function deleteCategory(id: number, precondition: Precondition): Command<void> {
  return {
    needs: [{ row: Category, id, lock: 'FOR UPDATE' }],
    decide: (state) => {
      precondition.assertHolds(toCategoryDto(foundCategory(state, id)));
      state.delete(Category, id);
    },
    explain: (error) => (violatesForeignKey(error, 'pets_category_fk') ? new CategoryInUseError(id) : error),
  };
}

function categoryOf(id: number, { name, description }: NewCategoryDto): Category {
  return { id, name, description: description ?? null };
}

function foundCategory(state: State, id: number): Category {
  const category = state.find(Category, id);
  if (category === null) {
    throw new CategoryNotFoundError(id);
  }
  return category;
}

/** The operations on categories that commands of other modules may use. */
export const CategoryCatalog = {
  /** Keeps the category from being deleted until the command is committed. */
  keep: (id: number): Need => ({ row: Category, id, lock: 'FOR KEY SHARE' }),

  exists: (state: State, id: number): boolean => state.find(Category, id) !== null,
};
