import { DeprecationReport } from '../../../../src/modules/deprecations';
import { Arrange } from '../../../support/builders';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { type TestService, startService } from '../../../support/service';

const SATURDAY = Date.UTC(2026, 10, 21, 9, 30);
const SUNDAY = Date.UTC(2026, 10, 22, 0, 0, 0, 7);

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ database });
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

/** Another run of the service, which a stop has written everything for. */
async function restart(now: number): Promise<void> {
  await service.close();
  service = await startService({ database });
  service.clock.set(now);
}

it('Calls of a deprecated operation are reported by key and UTC day, with the time of the last call, also those of earlier runs', async () => {
  const { id } = await new Arrange(await service.caller()).pet();
  const [one, other, gone] = [await service.issueKey(), await service.issueKey(), await service.issueKey()];
  const reduced = await service.issueKey({ scopes: ['write'] });
  const limited = await service.issueKey({ perMinute: 1, perDay: 9 });
  const get = (known: { key: string }, target = `/pets/${id}`) => service.callerWith(known.key).get(target);
  const report = (days: number, client?: string) => service.app.get(DeprecationReport).of(days, client);
  const use = ({ key, keyId, client }: typeof one, calls: number, lastCallAt: number) => ({
    ...{ operation: 'getPet', client, keyId, endsWith: key.slice(-4), calls },
    lastCallAt: new Date(lastCallAt),
  });

  await get(one);
  await get(one, '/pets/4711');
  await service.callerWith(one.key).send('HEAD', `/pets/${id}`);
  await get(one, `/pets?id=${id}`);
  await service.callerWith(one.key).delete('/pets/4711');
  await get(other);
  await get(other);
  await get(gone);
  // Neither who may not call it, nor who is over the limit, nor a stranger has called it.
  await get(reduced);
  await get(limited);
  await get(limited);
  await service.anonymous().get(`/pets/${id}`);
  service.clock.set(SUNDAY);
  await get(one);
  // A key that is deleted before its calls are written does not keep those of others from being written.
  await database.pool.query(`DELETE FROM api_keys WHERE id = $1`, [gone.keyId]);
  await restart(SUNDAY);
  expect(await report(2)).toEqual([use(one, 4, SUNDAY), use(other, 2, SATURDAY), use(limited, 1, SATURDAY)]);
  expect(await report(1)).toEqual([use(one, 1, SUNDAY)]);
  expect(await report(90, other.client)).toEqual([use(other, 2, SATURDAY)]);
  expect(await report(90, 'nobody')).toEqual([]);

  // A clock that is behind does not take the last time back.
  service.clock.set(SATURDAY - 1);
  await get(other, '/pets/4711');
  await restart(SUNDAY);
  expect(await report(2, other.client)).toEqual([use(other, 3, SATURDAY)]);
});
