import { Injectable } from '@nestjs/common';
import { ClientsService, KeysService } from '../../modules/auth';
import { Database, type Transaction } from '#libs/database';
import { SeedCatalogue } from '../../modules/catalogue';
import { agreedPlan } from '../../modules/quotas';

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
    private readonly catalogue: SeedCatalogue,
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
      const counts = await this.catalogue.run(transaction);
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
}
