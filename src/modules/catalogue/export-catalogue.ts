import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE, type Page, cursorAfter } from '#libs/http';
import { CategoriesService } from '../categories';
import { InventoryService } from '../inventory';
import { PetsService } from '../pets';

export interface CatalogueSize {
  categories: number;
  pets: number;
}

export interface ExportOptions {
  signal?: AbortSignal;
  /** Called with the number of lines written so far. */
  onLines?(lines: number): void;
}

/** Exports all categories and pets as NDJSON, in the format of the import: sorted by id, categories first. */
@Injectable()
export class ExportCatalogue {
  constructor(
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly inventory: InventoryService,
  ) {}

  /** @param write awaited before the next page is read, so that only one page is in memory */
  async run(write: (text: string) => Promise<void>, options: ExportOptions = {}): Promise<CatalogueSize> {
    const size = { categories: 0, pets: 0 };
    const writeLines = async (lines: object[]): Promise<void> => {
      options.signal?.throwIfAborted();
      await write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      options.onLines?.(size.categories + size.pets);
    };
    const written = new Set<number>();
    const writeCategories = async (categories: { id: number }[]): Promise<void> => {
      categories.forEach(({ id }) => written.add(id));
      size.categories += categories.length;
      await writeLines(categories.map((category) => ({ kind: 'category', ...category })));
    };
    for await (const categories of pagesOf((page) => this.categories.list(page))) {
      await writeCategories(categories);
    }
    for await (const stock of pagesOf((page) => this.inventory.list(page))) {
      const counts = new Map(stock.map(({ petId, ...count }) => [petId, count]));
      const ids = [...counts.keys()];
      const pets = ids.length === 0 ? [] : (await this.pets.list({ id: ids })).entries;
      // A pet follows its category, though it may have been created since.
      const missing = new Set(pets.map(({ categoryId }) => categoryId).filter((id) => !written.has(id)));
      await writeCategories(await Promise.all([...missing].map((id) => this.categories.get(id))));
      size.pets += pets.length;
      await writeLines(pets.map((pet) => ({ kind: 'pet', ...pet, ...counts.get(pet.id) })));
    }
    return size;
  }
}

async function* pagesOf<Entry>(
  list: (request: { limit: number; cursor?: string }) => Promise<Page<Entry>>,
): AsyncGenerator<Entry[]> {
  let cursor: string | undefined;
  do {
    const { entries, lastId } = await list({ limit: MAX_PAGE_SIZE, cursor });
    yield entries;
    cursor = lastId === null ? undefined : cursorAfter(lastId);
  } while (cursor !== undefined);
}
