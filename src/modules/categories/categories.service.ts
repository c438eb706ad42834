import { Injectable } from '@nestjs/common';
import { Database, RowReader, prepared } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { CategoryNotFoundError } from './categories.errors';
import type { ListCategoriesQuery } from './categories.dto';
import { type CategoryRow, categoryListStatement, categoryOf } from './category-list-statement';
import { Category } from './category.entity';

/** Reads of categories; what changes them has files of its own. */
@Injectable()
export class CategoriesService {
  private readonly categories: RowReader<Category>;

  constructor(private readonly database: Database) {
    this.categories = new RowReader(database, Category);
  }

  async list({ limit, cursor, ...filters }: ListCategoriesQuery): Promise<Page<Category>> {
    const { values, ...statement } = categoryListStatement(filters, idBefore(cursor), limit + 1);
    const rows = await prepared<CategoryRow>(this.database.reader, statement, values);
    return pageOf(rows.map(categoryOf), limit, ({ id }) => id);
  }

  async get(id: number): Promise<Category> {
    const category = await this.categories.find(id);
    if (category === null) {
      throw new CategoryNotFoundError(id);
    }
    return category;
  }
}
