import type { DeprecationNotice } from '#libs/client';
import { ClientsService } from '../../../../src/modules/auth';
import { agreedPlan } from '../../../../src/modules/quotas';
import { useService } from '../../../support/use-service';
import { failureOf, onService } from './support/on-service';
import { eventually } from '../../../support/eventually';

const service = useService();

async function aCategory({ client }: Awaited<ReturnType<typeof onService>>): Promise<number> {
  return (await client.categories.create({ name: 'Dogs' })).id;
}

describe('Limits', () => {
  it('are those of the last response', async () => {
    const { client } = await onService(service, { plan: 'free' });
    expect(client.rateLimit).toBeUndefined();
    await client.categories.list();
    expect(client.rateLimit).toMatchObject({
      limit: 60,
      remaining: 59,
      resetAt: new Date(Math.ceil(service.clock.now() / 1_000) * 1_000 + 60_000),
    });
  });

  it('only delay a client: five times as many concurrent calls as a minute allows all succeed', async () => {
    const { client, statuses, waits } = await onService(
      service,
      { perMinute: 12, perDay: 1_000 },
      { maxWaitSeconds: 1_000, maxAttempts: 20 },
    );
    await Promise.all(Array.from({ length: 60 }, () => client.categories.list()));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses).toContain(429);
    expect(statuses).not.toContain(403);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it('of a day end a call at once, and a new plan is detected by GET /rate-limit', async () => {
    const { client, name, statuses } = await onService(service, { perMinute: 100, perDay: 2 });
    await client.categories.list();
    await client.categories.list();
    for (let call = 0; call < 15; call += 1) {
      expect(await failureOf(client.categories.list())).toMatchObject({ code: 'daily_quota_exceeded' });
    }
    expect(statuses).toEqual([200, 200, 429]);
    await service.app.get(ClientsService).setPlan(name, agreedPlan('pro'));
    await eventually(async () => expect((await client.account.rateLimit()).day.remaining).toBe(9_998));
    await client.categories.list();
  });
});

it('A deprecated operation is reported once', async () => {
  const notices: DeprecationNotice[] = [];
  const onDeprecation = (notice: DeprecationNotice) => notices.push(notice);
  const store = await onService(service, {}, { onDeprecation });
  const pet = await store.client.pets.create({ name: 'Ada', categoryId: await aCategory(store) });
  expect(await store.client.pets.get(pet.id)).toEqual(pet);
  await store.client.pets.get(pet.id);
  expect(notices).toEqual([
    {
      operation: 'GET /pets/{petId}',
      since: new Date('2026-11-01T00:00:00Z'),
      sunset: new Date('2027-11-01T00:00:00Z'),
      successor: `/pets?id=${pet.id}`,
    },
  ]);
});

it('An unchanged resource returns no data, and a changed one is not overwritten', async () => {
  const { client } = await onService(service);
  const { data, response } = await client.categories.create({ name: 'Dogs' }).withResponse();
  const tag = response.headers.get('etag')!;
  const same = await client.categories.get(data.id, { ifNoneMatch: tag }).withResponse();
  expect([same.response.status, same.data]).toEqual([304, undefined]);
  expect(await client.categories.replace(data.id, { name: 'Cats' }, { ifMatch: tag })).toMatchObject({
    name: 'Cats',
  });
  const stale = await failureOf(client.categories.delete(data.id, { ifMatch: tag }));
  expect(stale).toMatchObject({ code: 'precondition_failed', status: 412 });
  const changed = await client.categories.get(data.id, { ifNoneMatch: tag });
  expect(changed).toMatchObject({ name: 'Cats' });
});
