import { Injectable } from '@nestjs/common';
import { Database, RowReader } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { CategoryNotFoundError } from './categories.errors';
import { type CategoryDto, type ListCategoriesQuery, toCategoryDto } from './categories.dto';
import { categoryListStatement } from './category-list-statement';
import { Category } from './category.entity';

/** Reads of categories; what changes them has files of its own. */
@Injectable()
export class CategoriesService {
  private readonly categories: RowReader<Category>;

  constructor(private readonly database: Database) {
    this.categories = new RowReader(database, Category);
  }

  async list({ limit, cursor, ...filters }: ListCategoriesQuery): Promise<Page<CategoryDto>> {
    const columns = this.database.table(Category).names;
    const statement = categoryListStatement(columns, filters, idBefore(cursor), limit + 1);
    const rows = await this.database.rows(Category, statement);
    return pageOf(rows.map(toCategoryDto), limit, ({ id }) => id);
  }

  async get(id: number): Promise<CategoryDto> {
    const category = await this.categories.find(id);
    if (category === null) {
      throw new CategoryNotFoundError(id);
    }
    return toCategoryDto(category);
  }
}
