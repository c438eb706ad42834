import { Injectable } from '@nestjs/common';
import { Database, type Transaction, insertedId, prepared, violatesForeignKey } from '#libs/database';
import type { Precondition } from '#libs/http';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { CategoryInUseError, CategoryNotFoundError } from './categories.errors';
import { type ListCategoriesQuery, type NewCategoryDto, toCategoryDto } from './categories.dto';
import { type CategoryRow, categoryListStatement, categoryOf } from './category-list-statement';
import { Category } from './category.entity';

@Injectable()
export class CategoriesService {
  constructor(private readonly database: Database) {}

  async list({ limit, cursor, ...filters }: ListCategoriesQuery): Promise<Page<Category>> {
    const { values, ...statement } = categoryListStatement(filters, idBefore(cursor), limit + 1);
    const rows = await prepared<CategoryRow>(this.database.reader, statement, values);
    return pageOf(rows.map(categoryOf), limit, ({ id }) => id);
  }

  async get(id: number): Promise<Category> {
    return found(await this.database.reader.findOneBy(Category, { id }), id);
  }

  async create({ name, description }: NewCategoryDto, outer?: Transaction): Promise<Category> {
    const category = { name, description: description ?? null };
    const result = await (outer ?? this.database.reader).insert(Category, category);
    return { ...category, id: insertedId(result) };
  }

  replace(id: number, { name, description }: NewCategoryDto, precondition: Precondition): Promise<Category> {
    return this.database.transaction(async (transaction) => {
      const category = await this.locked(transaction, id, precondition);
      Object.assign(category, { name, description: description ?? null });
      await transaction.update(Category, { id }, { name, description: category.description });
      return category;
    });
  }

  async delete(id: number, precondition: Precondition): Promise<void> {
    try {
      await this.database.transaction(async (transaction) => {
        await this.locked(transaction, id, precondition);
        await transaction.delete(Category, { id });
      });
    } catch (error) {
      // Asking first whether pets use it would be answered before another request gives it one.
      if (violatesForeignKey(error, 'pets_category_fk')) {
        throw new CategoryInUseError(id);
      }
      throw error;
    }
  }

  private async locked(transaction: Transaction, id: number, precondition: Precondition): Promise<Category> {
    const lock = { mode: 'pessimistic_write' } as const;
    const category = found(await transaction.findOne(Category, { where: { id }, lock }), id);
    precondition.assertHolds(toCategoryDto(category));
    return category;
  }
}

function found(category: Category | null, id: number): Category {
  if (!category) {
    throw new CategoryNotFoundError(id);
  }
  return category;
}
