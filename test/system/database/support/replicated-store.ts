import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { TcpProxy } from '../../../support/tcp-proxy';
import type { TestDatabase } from '../../../support/test-database';
import { Standby } from './standby';

/** A PostgreSQL with a streaming replica, and what stands between them and between the service and the replica. */
export class ReplicatedStore {
  private constructor(
    private readonly folder: string,
    private readonly primary: EmbeddedPostgres,
    readonly database: TestDatabase,
    /** From the replica to its primary. */
    readonly replication: TcpProxy,
    readonly standby: Standby,
    /** From the service to the replica. */
    readonly access: TcpProxy,
  ) {}

  static async start(): Promise<ReplicatedStore> {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-replicated-'));
    chmodSync(folder, 0o755);
    const primary = await startEmbeddedPostgres({
      dataDirectory: join(folder, 'primary'),
      database: 'petstore',
      parameters: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
    });
    const replication = await TcpProxy.start(primary.url);
    const standby = await Standby.start(primary.url, replication.url, join(folder, 'standby'));
    const access = await TcpProxy.start(standby.url);
    const pool = new Pool({ connectionString: primary.url, max: 2 });
    pool.on('error', () => undefined);
    const database = { url: primary.url, pool, drop: () => pool.end() };
    return new ReplicatedStore(folder, primary, database, replication, standby, access);
  }

  async close(): Promise<void> {
    await this.database.drop();
    await this.access.close();
    await this.standby.close();
    await this.replication.close();
    await this.primary.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
