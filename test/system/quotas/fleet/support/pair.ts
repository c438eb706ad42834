import { ClientsService } from '../../../../../src/modules/auth';
import { QuotaCounters } from '../../../../../src/modules/quotas';
import type { ApiCaller } from '../../../../support/api-caller';
import { type KeyOptions, type TestService, startService } from '../../../../support/service';
import { type TestDatabase, createTestDatabase } from '../../../../support/test-database';

/** Two instances in this process, over one database and one Redis, with clocks that stand still. */
export class Pair {
  private constructor(
    private readonly database: TestDatabase,
    readonly services: [TestService, TestService],
  ) {}

  /** Over one Redis, if any; the second instance may have a way of its own to it. */
  static async start(first?: string, second = first): Promise<Pair> {
    const database = await createTestDatabase();
    const start = (redisUrl?: string) => startService({ database, settings: { redisUrl, instances: 2 } });
    return new Pair(database, [await start(first), await start(second)]);
  }

  /** A new client, with a caller for either instance. */
  async client(
    options: KeyOptions = {},
  ): Promise<{ clientId: number; key: string; keyId: number; callers: ApiCaller[] }> {
    const { key, keyId, client } = await this.services[0].issueKey(options);
    const { id } = await this.services[0].app.get(ClientsService).get(client);
    const callers = this.services.map((service) => service.anonymous().with({ 'X-API-Key': key }));
    return { clientId: id, key, keyId, callers };
  }

  /** Whether each instance counts alone. */
  get degraded(): boolean[] {
    return this.services.map(({ app }) => app.get(QuotaCounters).isDegraded);
  }

  advance(milliseconds: number): void {
    this.services.forEach(({ clock }) => clock.advance(milliseconds));
  }

  async close(): Promise<void> {
    for (const service of this.services) {
      await service.close();
    }
    await this.database.drop();
  }
}
