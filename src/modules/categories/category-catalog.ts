import type { Need, State } from '#libs/database';
import { Category } from './category.entity';

/** The operations on categories that other modules may use in their commands. */
export const CategoryCatalog = {
  /** Keeps the category from being deleted until the command is committed. */
  keep: (id: number): Need => ({ row: Category, id, lock: 'FOR KEY SHARE' }),

  exists: (state: State, id: number): boolean => state.find(Category, id) !== null,
};
