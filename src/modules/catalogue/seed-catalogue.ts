import { Injectable } from '@nestjs/common';
import { escapeLiteral } from 'pg';
import { type Transaction, columnNames } from '#libs/database';
import { CATEGORY_COLUMNS, CategoryCatalog } from '../categories';
import { FIRST_QUANTITY, StockReservations } from '../inventory';
import { PET_COLUMNS, PET_DEFAULTS, PetCatalog, type PetStatus } from '../pets';

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

/** Adds the sample catalogue to an empty store. */
@Injectable()
export class SeedCatalogue {
  /** Adds nothing if the store has a category or a pet. @returns what was added */
  async run(transaction: Transaction): Promise<{ categories: number; pets: number }> {
    const [row] = await transaction.query<{ used: boolean }[]>(
      `SELECT EXISTS (SELECT FROM categories) OR EXISTS (SELECT FROM pets) AS used`,
    );
    if (row!.used) {
      return { categories: 0, pets: 0 };
    }
    const rows = asRows(CATALOGUE, CATEGORY_COLUMNS);
    const categories = await CategoryCatalog.insertAll(transaction, rows, 'seeded_categories');
    const pets = await PetCatalog.insertAll(
      transaction,
      `SELECT pet.*, found.id AS category_id
       FROM (${asRows(PETS, `category text, quantity int, ${PET_COLUMNS}`)}) AS pet
       JOIN seeded_categories AS found ON found.name = pet.category ORDER BY pet.place`,
      'seeded_pets',
    );
    await StockReservations.insertAll(transaction, `SELECT id AS pet_id, quantity FROM seeded_pets`);
    return { categories, pets };
  }
}

const PETS = CATALOGUE.flatMap(({ name: category, pets }) =>
  pets.map(({ name, status = PET_DEFAULTS.status }) => ({
    category,
    name,
    status,
    quantity: FIRST_QUANTITY[status],
  })),
);

/** A query that returns these rows in order. @param columns as in a PostgreSQL column definition list */
function asRows(rows: readonly object[], columns: string): string {
  const json = escapeLiteral(JSON.stringify(rows));
  return `SELECT * FROM ROWS FROM (json_to_recordset(${json}) AS (${columns})) WITH ORDINALITY AS rows (${columnNames(columns)}, place)
    ORDER BY place`;
}
