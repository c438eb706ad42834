import { Retention } from '#libs/database';
import { useService } from '../../support/use-service';

const DAY = 86_400_000;

const service = useService();

const COUNTED_BY_DAY = ['deprecated_calls', 'usage_days'];

/** What deletes old counts, by its table. */
function retentions(): Map<string, Retention> {
  const all = service.app.get<Retention, Retention>(Retention, { strict: false, each: true });
  const counts = all.filter(({ options }) => COUNTED_BY_DAY.includes(options.table));
  return new Map(counts.map((retention) => [retention.options.table, retention]));
}

test('usage and deprecated calls are kept for the 90 days that can be queried, including today', async () => {
  const { key, keyId, client } = await service.issueKey();
  const caller = service.anonymous().with({ 'X-API-Key': key });
  const oldest = '2026-08-24';
  for (const day of ['2026-08-23', oldest]) {
    await service.database.pool.query(
      `INSERT INTO usage_days SELECT id, $2, 7 FROM clients WHERE name = $1`,
      [client, day],
    );
    await service.database.pool.query(`INSERT INTO deprecated_calls VALUES ($1, 'getPet', $2, 7, now())`, [
      keyId,
      day,
    ]);
  }
  const count = async (table: string) =>
    (await service.database.pool.query(`SELECT FROM ${table} WHERE day < '2026-09-01'`)).rowCount;

  expect([...retentions().keys()].sort()).toEqual(COUNTED_BY_DAY);
  for (const [table, retention] of retentions()) {
    expect([await retention.deleteOld(), await count(table)]).toEqual([1, 1]);
  }
  const { body } = await caller.get<{ days: object[] }>('/usage?days=90');
  expect(body.days[0]).toEqual({ date: oldest, requests: 7 });

  service.clock.advance(DAY);
  for (const [table, retention] of retentions()) {
    expect([await retention.deleteOld(), await count(table)]).toEqual([1, 0]);
  }
});
