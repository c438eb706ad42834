import { Injectable } from '@nestjs/common';
import { Database, RowReader } from '#libs/database';
import { type Page, PageReader, type Selection } from '#libs/paging';
import { CategoryNotFoundError } from './categories.errors';
import type { ListCategoriesQuery } from './categories.dto';
import { Category } from './category.entity';

/** Reads of categories; what changes them has files of its own. */
@Injectable()
export class CategoriesService {
  private readonly categories: RowReader<Category>;
  private readonly pages: PageReader<Category, ListCategoriesQuery>;

  constructor(database: Database) {
    this.categories = new RowReader(database, Category);
    this.pages = new PageReader(database, Category, selectCategories);
  }

  list(query: ListCategoriesQuery): Promise<Page<Category>> {
    return this.pages.read(query);
  }

  async get(id: number): Promise<Category> {
    const category = await this.categories.find(id);
    if (category === null) {
      throw new CategoryNotFoundError(id);
    }
    return category;
  }
}

function selectCategories({ name }: ListCategoriesQuery): Selection {
  const named = name === undefined ? undefined : { prefix: name };
  return { statement: 'categories-page', conditions: [], named };
}
