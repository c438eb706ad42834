import { Injectable } from '@nestjs/common';
import { Database, PageReader, type Selection } from '#libs/database';
import { type Page } from '#libs/http';
import { CategoryNotFoundError } from './categories.errors';
import { type CategoryDto, type ListCategoriesQuery, toCategoryDto } from './categories.dto';
import { Category } from './category.entity';

/** Reads of categories; the commands that change them have their own files. */
@Injectable()
export class CategoriesService {
  private readonly pages: PageReader<Category, ListCategoriesQuery>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, Category, selectCategories);
  }

  async list(query: ListCategoriesQuery, caller?: number): Promise<Page<CategoryDto>> {
    const { entries, lastId } = await this.pages.read(query, caller);
    return { entries: entries.map(toCategoryDto), lastId };
  }

  async get(id: number): Promise<CategoryDto> {
    const category = await this.database.find(Category, id);
    if (category === null) {
      throw new CategoryNotFoundError(id);
    }
    return toCategoryDto(category);
  }
}

function selectCategories({ name }: ListCategoriesQuery): Selection {
  const named = name === undefined ? undefined : { prefix: name };
  return { conditions: [], named };
}
