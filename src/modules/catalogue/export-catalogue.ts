import { Injectable } from '@nestjs/common';
import { SERVICE_CALLER_ID } from '#libs/database';
import { MAX_PAGE_SIZE, type Page } from '#libs/http';
import { CategoriesService } from '../categories';
import { InventoryService } from '../inventory';
import { PetsService } from '../pets';

/** Exports the catalogue in the format of the import: first categories, then pets, each sorted by id. */
@Injectable()
export class ExportCatalogue {
  constructor(
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly inventory: InventoryService,
  ) {}

  async *lines(): AsyncGenerator<{ kind: 'category' | 'pet' }[]> {
    const exported = new Set<number>();
    const linesOf = (categories: readonly { id: number }[]) => {
      categories.forEach(({ id }) => exported.add(id));
      return categories.map((category) => ({ kind: 'category' as const, ...category }));
    };
    for await (const categories of eachPage((page) => this.categories.list(page, SERVICE_CALLER_ID))) {
      yield linesOf(categories);
    }
    for await (const stock of eachPage((page) => this.inventory.list(page, SERVICE_CALLER_ID))) {
      const stockOf = new Map(stock.map(({ petId, ...count }) => [petId, count]));
      const ids = [...stockOf.keys()];
      const pets = ids.length === 0 ? [] : (await this.pets.list({ id: ids }, SERVICE_CALLER_ID)).entries;
      // A category may have been created after the list of categories was exported. Export such a category here, before its
      // first pet.
      const missing = new Set(pets.map((pet) => pet.categoryId).filter((id) => !exported.has(id)));
      yield linesOf(await Promise.all([...missing].map((id) => this.categories.get(id, SERVICE_CALLER_ID))));
      yield pets.map((pet) => ({ kind: 'pet', ...pet, ...stockOf.get(pet.id) }));
    }
  }
}

async function* eachPage<Entry>(
  list: (request: { limit: number; cursor?: string }) => Promise<Page<Entry>>,
): AsyncGenerator<readonly Entry[]> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit: MAX_PAGE_SIZE, cursor });
    yield page.entries;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}
