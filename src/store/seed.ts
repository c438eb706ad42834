import { Readable } from 'node:stream';
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { Database, SERVICE_CALLER_ID } from '#libs/database';
import { ClientsService } from '../modules/auth';
import { type CatalogueCounts, ImportCatalogue } from '../modules/catalogue';
import { CategoriesService } from '../modules/categories';
import { type PetStatus, PetsService } from '../modules/pets';

export const DEMO_CLIENT = 'demo';

export interface Seeded extends CatalogueCounts {
  /** The key of the demo client. Null if no key was requested or the client already existed. */
  key: string | null;
}

const CATALOGUE = [
  ['Dogs', 'Loyal, loud and always hungry.', 'Rex Bella Waldo Luna Bruno'],
  ['Cats', 'They choose you, not the other way round.', 'Minka Felix Salem Mochi'],
  ['Birds', 'Early risers with a lot to say.', 'Kiwi Pablo Coco'],
  ['Fish', 'Quiet company for a desk or a living room.', 'Nemo Bubbles Koi Tetra'],
  ['Small animals', 'Rabbits, hamsters and guinea pigs.', 'Hazel Pip Nugget Clover'],
  ['Reptiles', 'Old souls that like it warm.', 'Spike Shelly'],
] as const;
const NOT_AVAILABLE: Readonly<Record<string, PetStatus>> = { Luna: 'pending', Mochi: 'sold' };

const SEED_LOCK = 0x73656564;

@Injectable()
export class SeedService {
  constructor(
    private readonly database: Database,
    private readonly clients: ClientsService,
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly catalogue: ImportCatalogue,
  ) {}

  /** Returns true if the store has never had a pet. */
  async isFirstRun(): Promise<boolean> {
    const text = `SELECT is_called AS used FROM pets_id_seq`;
    const [row] = await this.database.query<{ used: boolean }>({ text });
    return !row!.used;
  }

  /**
   * Fills an empty store with sample data and a demo client. A lock keeps a second process from filling the store at
   * the same time.
   */
  seed(withKey = true): Promise<Seeded> {
    return this.database.underLock(SEED_LOCK, async () => {
      // Create the client first. If the catalogue came first, an interruption could leave a store that has pets but no
      // client, and a store that has pets is not filled again.
      const key = await this.seedClient(withKey);
      return { ...(await this.seedCatalogue()), key };
    });
  }

  /**
   * Creates the demo client and, if `withKey` is true, issues an API key to this client.
   * @returns the API key. Null if none was issued, because `withKey` is false or because the client existed. The client may
   * exist without a key, if an earlier start was interrupted. `announce` then tells the operator how to issue one
   */
  private async seedClient(withKey: boolean): Promise<string | null> {
    if (await this.clients.exists(DEMO_CLIENT)) {
      return null;
    }
    await this.clients.create(DEMO_CLIENT, { plan: 'free' });
    return withKey ? (await this.clients.issueKey({ client: DEMO_CLIENT })).key : null;
  }

  /**
   * Imports the sample data if the store has no pets and no categories. If the store has no pets, but has exactly the
   * categories of the sample data, an earlier import was interrupted, so imports the pets.
   */
  private async seedCatalogue(): Promise<CatalogueCounts> {
    const [categories, pets] = [
      await this.categories.list({}, SERVICE_CALLER_ID),
      await this.pets.list({ limit: 1 }, SERVICE_CALLER_ID),
    ];
    const names = categories.entries.map(({ name }) => name);
    const isBegun = names.join() === CATALOGUE.map(([name]) => name).join();
    if (pets.entries.length > 0 || (names.length > 0 && !isBegun)) {
      return { categories: 0, pets: 0 };
    }
    const fromLine = isBegun ? CATALOGUE.length + 1 : 1;
    const { created, error } = await this.catalogue.importFrom(sampleFile(), { fromLine });
    if (error !== undefined) {
      throw error;
    }
    return created;
  }
}

function sampleFile(): Readable {
  const categories = CATALOGUE.map(([name, description], index) => {
    return { kind: 'category', id: index + 1, name, description };
  });
  const pets = CATALOGUE.flatMap(([, , names], index) =>
    names
      .split(' ')
      .map((name) => ({ kind: 'pet', name, categoryId: index + 1, status: NOT_AVAILABLE[name] })),
  );
  return Readable.from([...categories, ...pets].map((line) => Buffer.from(`${JSON.stringify(line)}\n`)));
}

/**
 * Fills an embedded database with sample data and a demo client at its first start. An API key is issued to this client
 * only if the output is a terminal, because the key is shown, and other people may read a log.
 */
export async function seedFirstRun(
  context: INestApplicationContext,
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'> = process.stdout,
): Promise<Seeded | undefined> {
  const seed = context.get(SeedService);
  return (await seed.isFirstRun()) ? seed.seed(Boolean(isTTY)) : undefined;
}
