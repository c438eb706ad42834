import { Readable } from 'node:stream';
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Database } from '#libs/database';
import { ClientsService } from '../modules/auth';
import { type CatalogueCounts, ImportCatalogue } from '../modules/catalogue';
import { CategoriesService } from '../modules/categories';
import { type PetStatus, PetsService } from '../modules/pets';
import { agreedPlan } from '../modules/quotas';
import { PETSTORE } from './messages';

export const DEMO_CLIENT = 'demo';

export interface Seeded extends CatalogueCounts {
  /** The demo client's key; null if none was asked for, or that client already existed. */
  key: string | null;
}

/** The sample catalogue: a category's name and description, and the names of its pets. */
const CATALOGUE = [
  ['Dogs', 'Loyal, loud and always hungry.', 'Rex Bella Waldo Luna Bruno'],
  ['Cats', 'They choose you, not the other way round.', 'Minka Felix Salem Mochi'],
  ['Birds', 'Early risers with a lot to say.', 'Kiwi Pablo Coco'],
  ['Fish', 'Quiet company for a desk or a living room.', 'Nemo Bubbles Koi Tetra'],
  ['Small animals', 'Rabbits, hamsters and guinea pigs.', 'Hazel Pip Nugget Clover'],
  ['Reptiles', 'Old souls that like it warm.', 'Spike Shelly'],
] as const;
const NOT_AVAILABLE: Readonly<Record<string, PetStatus>> = { Luna: 'pending', Mochi: 'sold' };

/** An advisory lock, so that two processes do not seed at the same time. The number only has to be unused elsewhere. */
const SEED_LOCK = 0x73656564;

/** Fills an empty store with sample data and a demo client. Safe to repeat. */
@Injectable()
export class SeedService {
  constructor(
    private readonly database: Database,
    private readonly clients: ClientsService,
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly catalogue: ImportCatalogue,
  ) {}

  /** True if no pet ever existed. Clients may exist: the command line can create them first. */
  async isFirstRun(): Promise<boolean> {
    const text = `SELECT is_called AS used FROM pets_id_seq`;
    const [row] = await this.database.query<{ used: boolean }>({ text });
    return !row!.used;
  }

  /** In transactions of its own, while this one keeps other processes waiting, however long that takes. */
  seed(withKey = true): Promise<Seeded> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(
        'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0',
      );
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [SEED_LOCK]);
      // The client comes first: a store with a catalogue is never seeded again, and a killed process may lack the rest.
      const key = await this.seedClient(withKey);
      return { ...(await this.seedCatalogue()), key };
    });
  }

  private seedClient(withKey: boolean): Promise<string | null> {
    return this.database.transaction(async (transaction) => {
      if (await this.clients.exists(DEMO_CLIENT, transaction)) {
        return null;
      }
      await this.clients.create(DEMO_CLIENT, agreedPlan('free'), transaction);
      return withKey ? (await this.clients.issueKey({ client: DEMO_CLIENT }, transaction)).key : null;
    });
  }

  /** Only into a store without a pet, and without categories but those of a seeding that was killed. */
  private async seedCatalogue(): Promise<CatalogueCounts> {
    const [categories, pets] = [await this.categories.list({}), await this.pets.list({ limit: 1 })];
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

/** At the first start of an embedded database. On a terminal it issues a key; a log may be kept, and others may read it. */
export async function seedFirstRun(
  store: INestApplicationContext,
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'> = process.stdout,
): Promise<Seeded | undefined> {
  const seed = store.get(SeedService);
  return (await seed.isFirstRun()) ? seed.seed(Boolean(isTTY)) : undefined;
}

/** Says that the service is ready, and where: on a terminal to a person, otherwise in one line of the log, whatever its level. */
export function announce(
  { host, port }: { host: string; port: number },
  firstRun: Pick<Seeded, 'key'> | undefined,
  logger: Logger,
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): void {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = firstRun ? DEMO_CLIENT : `<client> (clients: ${PETSTORE} clients list)`;
  const issue = `To get an API key: ${PETSTORE} keys issue --client ${client}`;
  if (!output.isTTY) {
    logger.child({}, { level: 'info' }).info({ url }, `Pet Store is ready. ${issue}`);
    logger.flush();
    return;
  }
  output.write(`
Pet Store is ready.

  Service    ${url}
  Docs       ${url}/docs
  OpenAPI    ${url}/openapi.json

${firstRun?.key ? firstKey(url, firstRun.key) : issue}

`);
}

function firstKey(url: string, key: string): string {
  return `Your first API key, for the client ${DEMO_CLIENT} on the free plan. It is shown only once:

  ${key}

Try it:

  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`;
}
