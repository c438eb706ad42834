import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { CategoriesService } from '../categories';
import { type PetStatus, PetsService } from '../pets';
import type { CatalogueCounts } from './catalogue-format';
import { ImportCatalogue } from './import-catalogue';

/** The sample catalogue; names in any order, apart by spaces. */
const CATALOGUE = [
  { name: 'Dogs', description: 'Loyal, loud and always hungry.', pets: 'Rex Bella Waldo Luna Bruno' },
  { name: 'Cats', description: 'They choose you, not the other way round.', pets: 'Minka Felix Salem Mochi' },
  { name: 'Birds', description: 'Early risers with a lot to say.', pets: 'Kiwi Pablo Coco' },
  {
    name: 'Fish',
    description: 'Quiet company for a desk or a living room.',
    pets: 'Nemo Bubbles Koi Tetra',
  },
  {
    name: 'Small animals',
    description: 'Rabbits, hamsters and guinea pigs.',
    pets: 'Hazel Pip Nugget Clover',
  },
  { name: 'Reptiles', description: 'Old souls that like it warm.', pets: 'Spike Shelly' },
];
const NOT_AVAILABLE: Readonly<Record<string, PetStatus>> = { Luna: 'pending', Mochi: 'sold' };

/** Adds the sample catalogue to a store without a pet, and without categories but those of a seeding that was killed. */
@Injectable()
export class SeedCatalogue {
  constructor(
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly catalogue: ImportCatalogue,
  ) {}

  /** @returns what was added */
  async seed(): Promise<CatalogueCounts> {
    const [categories, pets] = [await this.categories.list({}), await this.pets.list({ limit: 1 })];
    const isBegun = isDeepStrictEqual(
      categories.entries.map(({ name }) => name),
      CATALOGUE.map(({ name }) => name),
    );
    if (pets.entries.length > 0 || (categories.entries.length > 0 && !isBegun)) {
      return { categories: 0, pets: 0 };
    }
    const options = { fromLine: isBegun ? CATALOGUE.length + 1 : 1 };
    const { created, error } = await this.catalogue.importFrom(sampleFile(), options);
    if (error !== undefined) {
      throw error;
    }
    return created;
  }
}

async function* sampleFile(): AsyncGenerator<Buffer> {
  const categories = CATALOGUE.map(({ name, description }, index) => {
    return { kind: 'category', id: index + 1, name, description };
  });
  const pets = CATALOGUE.flatMap(({ pets: names }, index) =>
    names
      .split(' ')
      .map((name) => ({ kind: 'pet', name, categoryId: index + 1, status: NOT_AVAILABLE[name] })),
  );
  const lines = [...categories, ...pets].map((line) => JSON.stringify(line));
  yield await Promise.resolve(Buffer.from(lines.join('\n')));
}
