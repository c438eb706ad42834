import { Injectable } from '@nestjs/common';
import { escapeLiteral } from 'pg';
import { ClientsService, KeysService } from '../../modules/auth';
import { BulkCategories } from '../../modules/categories';
import { Database, type Transaction } from '#libs/database';
import { BulkStock, FIRST_QUANTITY } from '../../modules/inventory';
import { BulkPets } from '../../modules/pets';
import { agreedPlan } from '../../modules/quotas';
import { CATALOGUE } from './catalogue';

export const DEMO_CLIENT = 'demo';

export interface Seeded {
  categories: number;
  pets: number;
  /** The demo client's key; null when that client was there already. */
  key: string | null;
}

/** Any number that nothing else locks will do; it keeps two seeding processes from doing it twice. */
const SEED_LOCK = 0x73656564;

/** Fills an empty store with something to look at, and gives a first key. Does nothing twice. */
@Injectable()
export class SeedService {
  constructor(
    private readonly database: Database,
    private readonly categories: BulkCategories,
    private readonly pets: BulkPets,
    private readonly stock: BulkStock,
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
  ) {}

  /** True when no category and no pet was ever there; clients may be, for the command line can come first. */
  async isFirstRun(): Promise<boolean> {
    const [row] = await this.database.query<{ used: boolean }>(
      `SELECT categories.is_called OR pets.is_called AS used FROM categories_id_seq categories, pets_id_seq pets`,
    );
    return !row!.used;
  }

  /** All of it or nothing: a demo client without a key would keep a later start from printing one. */
  seed(): Promise<Seeded> {
    return this.database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [SEED_LOCK]);
      const counts = await this.seedCatalogue(transaction);
      return { ...counts, key: await this.seedClient(transaction) };
    });
  }

  private async seedClient(transaction: Transaction): Promise<string | null> {
    const [known] = await transaction.query<object[]>(`SELECT FROM clients WHERE name = $1`, [DEMO_CLIENT]);
    if (known) {
      return null;
    }
    await this.clients.create(DEMO_CLIENT, agreedPlan('free'), transaction);
    const { key } = await this.keys.issue({ client: DEMO_CLIENT }, transaction);
    return key;
  }

  private async seedCatalogue(transaction: Transaction): Promise<{ categories: number; pets: number }> {
    const [row] = await transaction.query<{ used: boolean }[]>(
      `SELECT EXISTS (SELECT FROM categories) OR EXISTS (SELECT FROM pets) AS used`,
    );
    if (row!.used) {
      return { categories: 0, pets: 0 };
    }
    const rows = asRows(CATALOGUE, 'name text, description text');
    const categories = await this.categories.enter(transaction, rows, 'seeded_categories');
    const pets = await this.pets.enter(
      transaction,
      `SELECT pet.name, category.id AS category_id, status, quantity
       FROM (${asRows(PETS, 'category text, name text, status text, quantity int')}) AS pet
       JOIN seeded_categories AS category ON category.name = pet.category ORDER BY pet.place`,
      'seeded_pets',
    );
    await this.stock.enter(transaction, `SELECT id AS pet_id, quantity FROM seeded_pets`);
    return { categories, pets };
  }
}

const PETS = CATALOGUE.flatMap(({ name: category, pets }) =>
  pets.map(({ name, status = 'available' }) => ({
    category,
    name,
    status,
    quantity: FIRST_QUANTITY[status],
  })),
);

/** A query for these rows, in their order. @param columns as PostgreSQL declares them */
function asRows(rows: readonly object[], columns: string): string {
  const json = escapeLiteral(JSON.stringify(rows));
  return `SELECT * FROM ROWS FROM (json_to_recordset(${json}) AS (${columns})) WITH ORDINALITY AS rows (${names(columns)}, place)
    ORDER BY place`;
}

function names(columns: string): string {
  return columns.replace(/ \w+(?=,|$)/g, '');
}
