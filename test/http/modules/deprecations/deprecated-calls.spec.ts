import { Arrange } from '../../../support/builders';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { type TestService, startService } from '../../../support/service';

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

function callsOf(keyId: number): Promise<unknown[]> {
  return database.pool
    .query(
      `SELECT operation, to_char(day, 'YYYY-MM-DD') AS day, calls::int AS calls, last_call_at AS at
       FROM deprecated_calls WHERE key_id = $1 ORDER BY day`,
      [keyId],
    )
    .then(({ rows }) => rows as unknown[]);
}

it('calls of a deprecated operation are recorded by key, operation and UTC day, with the time of the last call', async () => {
  const { id } = await new Arrange(await service.caller()).pet();
  const [one, other, gone] = [await service.issueKey(), await service.issueKey(), await service.issueKey()];
  const reduced = await service.issueKey({ scopes: ['write'] });
  const limited = await service.issueKey({ perMinute: 1, perDay: 9 });
  const started = service.clock.now();

  await service.callerWith(one.key).get(`/pets/${id}`);
  await service.callerWith(one.key).get('/pets/4711');
  await service.callerWith(one.key).send('HEAD', `/pets/${id}`);
  await service.callerWith(one.key).get(`/pets?id=${id}`);
  await service.callerWith(one.key).delete('/pets/4711');
  await service.callerWith(other.key).get(`/pets/${id}`);
  await service.callerWith(gone.key).get(`/pets/${id}`);
  // Neither who may not call it, nor who is over the limit, nor a stranger has called it.
  await service.callerWith(reduced.key).get(`/pets/${id}`);
  await service.callerWith(limited.key).get(`/pets/${id}`);
  await service.callerWith(limited.key).get(`/pets/${id}`);
  await service.anonymous().get(`/pets/${id}`);
  service.clock.set(Date.UTC(2026, 10, 22, 0, 0, 0, 7));
  await service.callerWith(one.key).get(`/pets/${id}`);
  // A key that is deleted before its calls are written does not keep those of others from being written.
  await database.pool.query(`DELETE FROM api_keys WHERE id = $1`, [gone.keyId]);
  await service.close();

  expect(await callsOf(one.keyId)).toEqual([
    { operation: 'getPet', day: '2026-11-21', calls: 3, at: new Date(started) },
    { operation: 'getPet', day: '2026-11-22', calls: 1, at: new Date(Date.UTC(2026, 10, 22, 0, 0, 0, 7)) },
  ]);
  expect(await callsOf(other.keyId)).toMatchObject([{ operation: 'getPet', calls: 1 }]);
  expect(await callsOf(limited.keyId)).toMatchObject([{ calls: 1 }]);
  expect([...(await callsOf(reduced.keyId)), ...(await callsOf(gone.keyId))]).toEqual([]);

  // Another run adds to what is there, and a clock that is behind does not take the last time back.
  service = await startService({ database });
  await service.callerWith(other.key).get('/pets/4711');
  service.clock.set(started - 1);
  await service.callerWith(other.key).get('/pets/4711');
  await service.close();
  expect(await callsOf(other.keyId)).toEqual([
    { operation: 'getPet', day: '2026-11-21', calls: 3, at: new Date(started) },
  ]);
  service = await startService({ database });
});
