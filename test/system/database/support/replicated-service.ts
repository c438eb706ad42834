import { ReadReplicas } from '#libs/database';
import type { ApiClient } from '../../../support/api-client';
import { type TestService, startService } from '../../../support/service';
import { ReplicatedStore } from './replicated-store';
import { until } from '../../../support/eventually';

export const LISTS = ['/pets', '/categories', '/store/orders', '/store/inventory'];

/** A service whose lists may come from a streaming replica of its database. */
export class ReplicatedService {
  readonly replicas: ReadReplicas;

  private constructor(
    readonly store: ReplicatedStore,
    readonly service: TestService,
  ) {
    this.replicas = service.app.get(ReadReplicas);
  }

  /** Resolves when the replica is in use. */
  static async start(): Promise<ReplicatedService> {
    const store = await ReplicatedStore.start();
    const settings = { databaseReplicaUrls: [store.access.url] };
    const service = await startService({ settings, database: store.database }).catch(async (error) => {
      await store.close();
      throw error;
    });
    const replicated = new ReplicatedService(store, service);
    await replicated.inUse(true).catch(async (error) => {
      await replicated.close();
      throw error;
    });
    return replicated;
  }

  async inUse(wanted: boolean): Promise<void> {
    await until(() => this.replicas.states[0]!.inUse === wanted);
  }

  /** How many lists the work had the replica and the primary asked for. */
  async readsDuring(work: () => Promise<unknown>): Promise<{ primary: number; replica: number }> {
    const { primary, replica } = this.replicas.reads;
    await work();
    const { reads } = this.replicas;
    return { primary: reads.primary - primary, replica: reads.replica - replica };
  }

  /** Waits until a client's lists are read from the replica, which has then replayed all that it wrote. */
  async readsFromReplica(client: ApiClient): Promise<void> {
    const read = () => client.get('/categories?limit=1');
    await until(async () => (await this.readsDuring(read)).replica === 1);
  }

  /** Puts the replica behind by a write that it is not let replay. */
  async whileBehind(write: () => Promise<unknown>, look: () => Promise<void>): Promise<void> {
    const { standby } = this.store;
    const pauseState = 'SELECT pg_get_wal_replay_pause_state() AS state';
    await standby.query('SELECT pg_wal_replay_pause()');
    await until(async () => (await standby.query<{ state: string }>(pauseState))[0]!.state === 'paused');
    try {
      await write();
      await look();
    } finally {
      await standby.query('SELECT pg_wal_replay_resume()');
    }
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.store.close();
  }
}
