import { Injectable, Module } from '@nestjs/common';
import { Database, type Transaction } from '#libs/database';
import { ClientAdministrationModule, ClientsService, KeysService } from '../modules/auth';
import { CatalogueModule, SeedCatalogue } from '../modules/catalogue';
import { agreedPlan } from '../modules/quotas';

export const DEMO_CLIENT = 'demo';

export interface Seeded {
  categories: number;
  pets: number;
  /** The demo client's key; null if none was asked for, or that client already existed. */
  key: string | null;
}

/** An advisory lock, so that two processes do not seed at the same time. The number only has to be unused elsewhere. */
const SEED_LOCK = 0x73656564;

/** Fills an empty store with sample data and a demo client. Safe to repeat. */
@Injectable()
export class SeedService {
  constructor(
    private readonly database: Database,
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly catalogue: SeedCatalogue,
  ) {}

  /** True if no category and no pet ever existed. Clients may exist: the command line can create them first. */
  async isFirstRun(): Promise<boolean> {
    // SQL, because sequences are no entities.
    const text = `SELECT categories.is_called OR pets.is_called AS used FROM categories_id_seq categories, pets_id_seq pets`;
    const [row] = await this.database.run<{ used: boolean }>({ text });
    return !row!.used;
  }

  /** The catalogue is imported in transactions of its own, while this one keeps other processes waiting. */
  seed(withKey = true): Promise<Seeded> {
    return this.database.transaction(async (transaction) => {
      // SQL, because TypeORM has no advisory locks.
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [SEED_LOCK]);
      const counts = await this.catalogue.run();
      return { ...counts, key: await this.seedClient(withKey, transaction) };
    });
  }

  private async seedClient(withKey: boolean, transaction: Transaction): Promise<string | null> {
    if (await this.clients.exists(DEMO_CLIENT, transaction)) {
      return null;
    }
    await this.clients.create(DEMO_CLIENT, agreedPlan('free'), transaction);
    return withKey ? (await this.keys.issue({ client: DEMO_CLIENT }, transaction)).key : null;
  }
}

/** Sample data for an empty store. */
@Module({
  imports: [ClientAdministrationModule, CatalogueModule],
  providers: [SeedService],
  exports: [SeedService],
})
export class SeedModule {}
