import { newBanState } from '../../../../src/modules/quotas/rules/decision';
import { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import { until } from '../../../support/eventually';
import { type TestService, startService } from '../../../support/service';
import { createTestDatabase } from '../../../support/test-database';
import { lockWaits } from '../../../support/while-locked';

type Key = Awaited<ReturnType<TestService['issueKey']>>;

/** Leaves a count, a last use, a deprecated call and a ban of each key to be saved, in this order of keys. */
async function use(service: TestService, keys: Key[]): Promise<void> {
  for (const { key } of keys) await service.callerWith(key).get('/pets/4711');
  const records = service.app.get(QuotaRecords);
  // The first ban is written immediately; those that follow wait for it, and are written together.
  for (const { keyId } of [keys[0]!, ...keys]) records.saveBan(keyId, newBanState(), service.clock.now());
}

// A test holds a row of the table, because nothing else shows that both instances are in the middle of their batches.
test.each([
  ['counts', 'usage_days', 'client_id', 2],
  ['bans and last uses of keys', 'api_keys', 'id', 4],
  ['calls of deprecated operations', 'deprecated_calls', 'key_id', 2],
])(
  'two instances save %s of the same clients, met in opposite orders, without a deadlock',
  async (_what, table, id, batches) => {
    const database = await createTestDatabase();
    const before = await startService({ database });
    const keys = [await before.issueKey(), await before.issueKey(), await before.issueKey()];
    await use(before, keys);
    await before.close();

    const instances = [await startService({ database }), await startService({ database })];
    const uses = [
      [instances[0]!, keys],
      [instances[1]!, keys.toReversed()],
    ] as const;
    // A client's usage is read at its first request, after counts have been saved; here it must not wait for the held row.
    for (const [service, inOrder] of uses) {
      for (const { key } of inOrder) await service.callerWith(key).get('/rate-limit');
    }
    const holder = await database.pool.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT FROM ${table} ORDER BY ${id} OFFSET 1 LIMIT 1 FOR NO KEY UPDATE`);
    for (const [service, inOrder] of uses) await use(service, inOrder);
    const closed = Promise.all(instances.map((service) => service.close()));
    await until(async () => (await lockWaits(database.pool)) === batches);
    await holder.query('ROLLBACK');
    holder.release();
    await closed;
    expect(instances.flatMap(({ log }) => log.lines.filter(({ level }) => Number(level) >= 40))).toEqual([]);
    await database.drop();
  },
);
