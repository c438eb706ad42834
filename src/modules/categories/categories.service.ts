import { Injectable } from '@nestjs/common';
import {
  type CallerId,
  CommandExecutor,
  Database,
  type Need,
  type CommandSource,
  PageReader,
  type Select,
  type State,
} from '#libs/database';
import { type Page, pageMapper, rangeOf } from '#libs/http';
import type { WrittenTable } from '../../feature';
import type { NewEvent } from '../events';
import {
  type CategoryDto,
  CategoryInUseError,
  CategoryNotFoundError,
  type ListCategoriesQuery,
  type NewCategoryDto,
  toCategoryDto,
} from './categories.dto';
import { Category } from './category.entity';

@Injectable()
export class CategoriesService {
  private readonly pages = new PageReader(
    this.database,
    Category,
    selectCategories,
    pageMapper(toCategoryDto),
  );

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {}

  async list(query: ListCategoriesQuery, callerId: CallerId): Promise<Page<CategoryDto>> {
    return this.pages.read(rangeOf(query), query, callerId);
  }

  async get(id: number, callerId: CallerId): Promise<CategoryDto> {
    return toCategoryDto(existing(await this.database.find(Category, id, callerId), id));
  }

  create(body: NewCategoryDto, source: CommandSource): Promise<CategoryDto> {
    return this.commands.execute(source, {
      needs: [{ newId: Category }],
      decide: (state) => {
        const id = state.newId(Category);
        const category = { id, ...columnsOf(body) };
        state.insert(Category, id, category);
        return toCategoryDto(category);
      },
    });
  }

  replace(id: number, body: NewCategoryDto, source: CommandSource): Promise<CategoryDto> {
    return this.commands.execute(source, {
      needs: [{ entity: Category, id, lock: 'FOR NO KEY UPDATE' }],
      resource: (state) => toCategoryDto(findExisting(state, id)),
      decide: (state) => {
        const category = { ...findExisting(state, id), ...columnsOf(body) };
        state.update(Category, id, category);
        return toCategoryDto(category);
      },
    });
  }

  /**
   * Deletes a category, or throws a 409 if the category has pets. A lock on the category prevents other transactions
   * from adding a pet to the category in the meantime.
   */
  delete(id: number, source: CommandSource): Promise<void> {
    const { isReferenced } = this.database.table(Category);
    return this.commands.execute(source, {
      needs: [
        { entity: Category, id, lock: 'FOR UPDATE' },
        { lookup: isReferenced, key: id },
      ],
      resource: (state) => toCategoryDto(findExisting(state, id)),
      decide: (state) => {
        const category = findExisting(state, id);
        if (state.lookUp(isReferenced, id)) {
          throw new CategoryInUseError(id);
        }
        state.delete(Category, category.id);
      },
    });
  }
}

const selectCategories: Select<ListCategoriesQuery> = ({ name }, parameter) => {
  const named = name === undefined ? undefined : { prefix: parameter(name, 'text'), filters: [] };
  return { conditions: [], named, long: ['name', 'description'] };
};

function columnsOf({ name, description }: NewCategoryDto): Omit<Category, 'id'> {
  return { name, description: description ?? null };
}

function existing(category: Category | null, id: number): Category {
  if (category === null) {
    throw new CategoryNotFoundError(id);
  }
  return category;
}

function findExisting(state: State, id: number): Category {
  return existing(state.find(Category, id), id);
}

export const CategoryRows = {
  /** Locks a category, so that no other command deletes the category. Other commands may still change the category. */
  needOf: (id: number): Need => ({ entity: Category, id, lock: 'FOR KEY SHARE' }),

  exists: (state: State, id: number): boolean => state.find(Category, id) !== null,
};

export const CATEGORIES_TABLE: WrittenTable = {
  entity: Category,
  eventsOf: (state) =>
    state.changesOf(Category).map(({ before, after }): NewEvent => {
      if (after === null) {
        return { type: 'category.deleted', data: toCategoryDto(before!) };
      }
      return { type: before === null ? 'category.created' : 'category.updated', data: toCategoryDto(after) };
    }),
};
