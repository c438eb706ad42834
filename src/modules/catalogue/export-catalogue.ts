import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE, type Page } from '#libs/http';
import { InventoryService } from '../inventory';
import { CategoriesService } from '../categories';
import { PetsService } from '../pets';
import { CatalogueFormat, type CatalogueList, CatalogueSize } from './catalogue-format';

export interface ExportOptions {
  signal?: AbortSignal;
  /** Called with the number of lines written so far. */
  onLines?(lines: number): void;
}

/** Exports the catalogue as NDJSON, in the format of the import: sorted by id, pets last. */
@Injectable()
export class ExportCatalogue {
  constructor(
    private readonly format: CatalogueFormat,
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly inventory: InventoryService,
  ) {}

  /** @param write awaited before the next page is read, so that only one page is in memory */
  async run(write: (text: string) => Promise<void>, options: ExportOptions = {}): Promise<CatalogueSize> {
    const size = new CatalogueSize(this.format.kinds);
    const writeLines = async (lines: object[]): Promise<void> => {
      options.signal?.throwIfAborted();
      await write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      options.onLines?.(size.total);
    };
    const writtenCategories = new Set<number>();
    const writeEntries = async (
      { kind, plural }: CatalogueList,
      entries: readonly { id: number }[],
    ): Promise<void> => {
      if (kind === 'category') {
        entries.forEach(({ id }) => writtenCategories.add(id));
      }
      size.counts[plural]! += entries.length;
      await writeLines(entries.map((entry) => ({ kind, ...entry })));
    };
    const isMissing = (id: number) => !writtenCategories.has(id);
    for (const list of this.format.lists) {
      for await (const entries of pagesOf((page) => this.format.serviceOf(list).list(page))) {
        await writeEntries(list, entries);
      }
    }
    for await (const stock of pagesOf((page) => this.inventory.list(page))) {
      const counts = new Map(stock.map(({ petId, ...count }) => [petId, count]));
      const ids = [...counts.keys()];
      const pets = ids.length === 0 ? [] : (await this.pets.list({ id: ids })).entries;
      // A pet follows its category, though it may have been created since.
      const missing = new Set(pets.map(({ categoryId }) => categoryId).filter(isMissing));
      const categories = await Promise.all([...missing].map((id) => this.categories.get(id)));
      await writeEntries(this.format.listOf('category')!, categories);
      size.counts.pets! += pets.length;
      await writeLines(pets.map((pet) => ({ kind: 'pet', ...pet, ...counts.get(pet.id) })));
    }
    return size;
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
