import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE, type Page } from '#libs/http';
import { CategoriesService } from '../categories';
import { InventoryService } from '../inventory';
import { PetsService } from '../pets';
import type { CatalogueCounts } from './catalogue-format';

interface ExportOptions {
  signal?: AbortSignal;
  /** Called with the number of lines written so far. */
  onLines?(lines: number): void;
}

/** Exports the catalogue as NDJSON, in the format of the import: sorted by id, pets last. */
@Injectable()
export class ExportCatalogue {
  constructor(
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly inventory: InventoryService,
  ) {}

  /** @param write awaited before the next page is read, so that only one page is in memory */
  async exportTo(
    write: (text: string) => Promise<void>,
    { signal, onLines }: ExportOptions = {},
  ): Promise<CatalogueCounts> {
    const counts: CatalogueCounts = { categories: 0, pets: 0 };
    const written = new Set<number>();
    const writeLines = async (lines: object[]): Promise<void> => {
      signal?.throwIfAborted();
      await write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      onLines?.(counts.categories + counts.pets);
    };
    const writeCategories = async (categories: readonly { id: number }[]): Promise<void> => {
      categories.forEach(({ id }) => written.add(id));
      counts.categories += categories.length;
      await writeLines(categories.map((category) => ({ kind: 'category', ...category })));
    };
    for await (const categories of pagesOf((page) => this.categories.list(page))) {
      await writeCategories(categories);
    }
    for await (const stock of pagesOf((page) => this.inventory.list(page))) {
      const stockOf = new Map(stock.map(({ petId, ...count }) => [petId, count]));
      const ids = [...stockOf.keys()];
      const pets = ids.length === 0 ? [] : (await this.pets.list({ id: ids })).entries;
      // A pet follows its category, though it may have been created since.
      const missing = new Set(pets.map((pet) => pet.categoryId).filter((id) => !written.has(id)));
      await writeCategories(await Promise.all([...missing].map((id) => this.categories.get(id))));
      counts.pets += pets.length;
      await writeLines(pets.map((pet) => ({ kind: 'pet', ...pet, ...stockOf.get(pet.id) })));
    }
    return counts;
  }
}

async function* pagesOf<Entry>(
  list: (request: { limit: number; cursor?: string }) => Promise<Page<Entry>>,
): AsyncGenerator<readonly Entry[]> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit: MAX_PAGE_SIZE, cursor });
    yield page.entries;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}
