import { QuotaAdministration } from '../../../src/modules/quotas';
import type { ApiClient } from '../../support/api-client';
import { startService } from '../../support/service';
import { standing, statuses } from '../../support/limits';
import { until } from '../../support/eventually';
import { MODES, useTwoInstances } from './support/use-two-instances';

describe.each(MODES)('two instances that count %s', (mode) => {
  const { instances, options, restartRedis } = useTwoInstances(mode);
  const [here, there] = instances;

  async function aClient(): Promise<{ clientId: number; key: string; callers: ApiClient[] }> {
    const { key, client } = await here.issueKey({ plan: 'enterprise', perMinute: 5, perDay: 8 });
    const { rows } = await here.database.pool.query<{ id: string }>(
      'SELECT id FROM clients WHERE name = $1',
      [client],
    );
    const callers = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': key }));
    return { clientId: Number(rows[0]!.id), key, callers };
  }

  /** Resetting carries the time of the clock, and the first of two resets of one moment is all there is. */
  async function reset(clientId: number): Promise<void> {
    here.clock.advance(1_000);
    there.clock.advance(1_000);
    await here.app.get(QuotaAdministration).reset(clientId);
  }

  async function hasAllOfItsMinute(caller: ApiClient): Promise<boolean> {
    return (await standing(caller)).minute.remaining === 5;
  }

  test('a reset restarts both windows on both instances, once', async () => {
    const { clientId, callers } = await aClient();
    for (const caller of callers) {
      await statuses(caller, 6);
    }
    await reset(clientId);
    for (const caller of callers) {
      await until(() => hasAllOfItsMinute(caller));
      expect((await standing(caller)).day.remaining).toBe(8);
    }
    const [first, second] = await Promise.all(callers.map((caller) => statuses(caller, 6)));
    const passed = [...first!, ...second!].filter((status) => status === 200);
    expect(passed).toHaveLength(mode === 'alone' ? 10 : 5);
  });

  test('past usage stays in the report, and is not counted again after a restart', async () => {
    const { clientId, key, callers } = await aClient();
    expect(await statuses(callers[0]!, 4)).toEqual([200, 200, 200, 200]);
    // To ask for the usage writes down what was counted.
    await callers[0]!.get('/usage');
    await reset(clientId);
    await until(() => hasAllOfItsMinute(callers[0]!));
    const { body } = await callers[0]!.get<{ days: { requests: number }[] }>('/usage?days=1');
    expect(body.days.at(-1)!.requests).toBeGreaterThanOrEqual(5);

    await restartRedis();
    const later = await startService(options());
    later.clock.set(here.clock.now());
    const fresh = later.anonymous().with({ 'X-API-Key': key });
    expect((await standing(fresh)).day.remaining).toBeGreaterThanOrEqual(6);
    await later.close();
  });
});
