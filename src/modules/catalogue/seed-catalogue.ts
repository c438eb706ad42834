import { countRows, type Transaction } from '#libs/database';
import { CategoryCatalog } from '../categories';
import { PetCatalog, type PetStatus } from '../pets';
import { type CatalogueSize } from './export-catalogue';
import { loadCatalogue } from './import-catalogue';

interface SeedPet {
  name: string;
  status?: PetStatus;
}

interface SeedCategory {
  name: string;
  description: string;
  pets: SeedPet[];
}

/** The sample catalogue. */
const CATALOGUE: readonly SeedCategory[] = [
  {
    name: 'Dogs',
    description: 'Loyal, loud and always hungry.',
    pets: [
      { name: 'Rex' },
      { name: 'Bella' },
      { name: 'Waldo' },
      { name: 'Luna', status: 'pending' },
      { name: 'Bruno' },
    ],
  },
  {
    name: 'Cats',
    description: 'They choose you, not the other way round.',
    pets: [{ name: 'Minka' }, { name: 'Felix' }, { name: 'Salem' }, { name: 'Mochi', status: 'sold' }],
  },
  {
    name: 'Birds',
    description: 'Early risers with a lot to say.',
    pets: [{ name: 'Kiwi' }, { name: 'Pablo' }, { name: 'Coco' }],
  },
  {
    name: 'Fish',
    description: 'Quiet company for a desk or a living room.',
    pets: [{ name: 'Nemo' }, { name: 'Bubbles' }, { name: 'Koi' }, { name: 'Tetra' }],
  },
  {
    name: 'Small animals',
    description: 'Rabbits, hamsters and guinea pigs.',
    pets: [{ name: 'Hazel' }, { name: 'Pip' }, { name: 'Nugget' }, { name: 'Clover' }],
  },
  {
    name: 'Reptiles',
    description: 'Old souls that like it warm.',
    pets: [{ name: 'Spike' }, { name: 'Shelly' }],
  },
];

/** Adds the sample catalogue to a store without a category and a pet. @returns what was added */
export async function seedCatalogue(transaction: Transaction): Promise<CatalogueSize> {
  for (const { all } of [CategoryCatalog, PetCatalog]) {
    if ((await countRows(transaction, `${all} LIMIT 1`)) > 0) {
      return { categories: 0, pets: 0 };
    }
  }
  const { categories, pets } = await loadCatalogue(transaction, sampleFile());
  return { categories, pets };
}

async function* sampleFile(): AsyncGenerator<Buffer> {
  const lines = CATALOGUE.flatMap(({ pets, ...category }, index) => [
    { kind: 'category', id: index + 1, ...category },
    ...pets.map((pet) => ({ kind: 'pet', categoryId: index + 1, ...pet })),
  ]);
  yield await Promise.resolve(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
}
