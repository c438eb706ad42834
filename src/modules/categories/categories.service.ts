import { Injectable } from '@nestjs/common';
import {
  columnNames,
  Database,
  numberRows,
  PageReader,
  type Selection,
  type Transaction,
} from '#libs/database';
import type { Page } from '#libs/http';
import {
  type CategoryDto,
  CategoryNotFoundError,
  type ListCategoriesQuery,
  toCategoryDto,
} from './categories.dto';
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

  async get(id: number, caller?: number): Promise<CategoryDto> {
    const category = await this.database.find(Category, id, caller);
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

/** Columns that are copied unchanged, with their types; the store assigns the id. */
export const CATEGORY_COLUMNS = 'name text, description text';
const COLUMNS = columnNames(CATEGORY_COLUMNS);

/** Bulk operations on categories, for import and export. */
@Injectable()
export class BulkCategories {
  /** All categories, as a query to build on. */
  readonly all = `SELECT id, ${COLUMNS} FROM categories`;

  /**
   * Inserts the rows of a query (columns valid by `categoryFields`; more columns are allowed) in order.
   * Keeps them in a temporary table of this name, with their new `id`.
   * @returns the number of rows
   */
  async insert(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'categories_id_seq', table });
    await transaction.query(
      `INSERT INTO categories (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  }

  /** Prevents the categories with these ids from being deleted while the transaction runs. */
  async hold(transaction: Transaction, ids: string): Promise<void> {
    // Always in the same order, to avoid deadlocks.
    await transaction.query(
      `SELECT count(*) FROM
       (SELECT FROM categories WHERE id IN (${ids}) ORDER BY id FOR KEY SHARE) AS held`,
    );
  }
}
