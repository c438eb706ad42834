import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#libs/database';
import { ClientsService, KeysService } from '../modules/auth';
import { SeedCatalogue } from '../modules/catalogue';
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

  /** True if no pet ever existed. Clients may exist: the command line can create them first. */
  async isFirstRun(): Promise<boolean> {
    // SQL, because sequences are no entities.
    const text = `SELECT is_called AS used FROM pets_id_seq`;
    const [row] = await this.database.query<{ used: boolean }>({ text });
    return !row!.used;
  }

  /**
   * The client comes first, because a store with a catalogue is never seeded again: whatever a killed process lacks of it,
   * the next one adds.
   */
  async seed(withKey = true): Promise<Seeded> {
    const key = await this.underSeedLock((transaction) => this.seedClient(withKey, transaction));
    // Imported in transactions of its own, while this one keeps other processes waiting, however long that takes.
    const counts = await this.underSeedLock(() => this.catalogue.seed());
    return { ...counts, key };
  }

  private underSeedLock<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      // SQL, because TypeORM has no advisory locks.
      await transaction.query(
        'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0',
      );
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [SEED_LOCK]);
      return work(transaction);
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
