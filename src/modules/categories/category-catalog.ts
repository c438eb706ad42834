import type { Need, State } from '#libs/commands';
import { Category } from './category.entity';

/** What other modules may do with categories in a command. */
export const CategoryCatalog = {
  /** Keeps the category from being deleted until the command is committed. */
  keep: (id: number): Need => ({ row: Category, id, lock: 'FOR KEY SHARE' }),

  exists: (state: State, id: number): boolean => state.find(Category, id) !== null,
};
