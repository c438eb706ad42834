import { DeprecatedCalls } from '../../../../src/modules/deprecations/deprecated-calls';
import { Arrange } from '../../../support/builders';
import type { Answer, ApiCaller, ErrorBody } from '../../../support/api-caller';
import { type TestService, startService } from '../../../support/service';
import { useInstances } from '../../../support/use-service';
import { limitsIn } from '../../../support/limits';
import { whileTableFails } from '../../../support/disturbances';

const SUNSET = Date.UTC(2027, 10, 1);

const [serving, closing] = useInstances({}, { settings: { afterSunset: 'gone' } }) as [
  TestService,
  TestService,
];
let caller: ApiCaller;
let petId: number;

beforeAll(async () => {
  caller = await serving.caller();
  petId = (await new Arrange(caller).pet()).id;
});

function announced({ headers }: Answer<unknown>) {
  return {
    deprecation: headers.get('deprecation'),
    sunset: headers.get('sunset'),
    link: headers.get('link'),
    warning: headers.get('warning'),
  };
}

function announcement(id: number | string) {
  return {
    deprecation: '@1793491200',
    sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
    link: expect.stringMatching(
      new RegExp(`^<[^>]+>; rel="deprecation"[^,]*, </pets\\?id=${id}>; rel="successor-version"$`),
    ) as string,
    warning: null,
  };
}

describe('every response of a deprecated operation announces its sunset', () => {
  it.each([
    ['404', 404, '/pets/4711', '4711'],
    ['400', 400, '/pets/x%3E%22,', 'x%3E%22%2C'],
    ['400, beyond ASCII', 400, '/pets/%C3%A9&id=8', '%C3%A9%26id%3D8'],
    ['400, without a line break', 400, '/pets/1%0D%0AX-Injected:1', '1%0D%0AX-Injected%3A1'],
    ['400, without a whole key', 400, `/pets/psk_live_${'x'.repeat(36)}`, `psk_live_${'x'.repeat(21)}`],
    ['400 of the query', 400, '/pets/1?nothing=1', '1'],
  ])('%s, with the successor of the requested resource', async (_what, status, target, id) => {
    const answer = await caller.get(target);
    expect([answer.status, announced(answer)]).toEqual([status, announcement(id)]);
    expect(answer.headers.has('x-injected')).toBe(false);
  });

  it('200, 304, 401, 403, 429 and 500', async () => {
    const limited = await serving.caller({ perMinute: 1, perDay: 9 });
    const etag = (await limited.get(`/pets/${petId}`)).headers.get('etag')!;
    const writer = await serving.caller({ scopes: ['write'] });
    const answers = [
      await caller.get(`/pets/${petId}`),
      await caller.with({ 'If-None-Match': etag }).get(`/pets/${petId}`),
      await serving.anonymous().get(`/pets/${petId}`),
      await writer.get(`/pets/${petId}`),
      await limited.get(`/pets/${petId}`),
      await whileTableFails(serving, 'pets', () => caller.get(`/pets/${petId}`)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 401, 403, 429, 500]);
    expect(answers.map(announced)).toEqual(Array(6).fill(announcement(petId)));
  });
});

describe('at the sunset', () => {
  it('the operation still works, unless AFTER_SUNSET is gone', async () => {
    serving.clock.set(SUNSET + 86_400_000);
    const answer = await caller.get(`/pets/${petId}`);
    expect([answer.status, announced(answer)]).toEqual([200, announcement(petId)]);
  });

  it('the operation is gone from that millisecond on if so configured, and names its replacement', async () => {
    const visitor = closing.callerWith((await serving.issueKey({ plan: 'free' })).key);
    closing.clock.set(SUNSET - 1);
    expect((await visitor.get(`/pets/${petId}`)).status).toBe(200);
    closing.clock.set(SUNSET);
    const gone = await visitor.get<ErrorBody>(`/pets/${petId}`);
    expect([gone.status, gone.body.code, announced(gone)]).toEqual([
      410,
      'operation_gone',
      announcement(petId),
    ]);
    expect(limitsIn(gone).remaining).toBe(58);
    expect((await closing.anonymous().get<ErrorBody>(`/pets/${petId}`)).status).toBe(401);
    expect((await visitor.get<object[]>(`/pets?id=${petId}`)).body).toMatchObject([{ id: petId }]);
    expect((await visitor.delete(`/pets/4711`)).status).toBe(404);
    expect((await visitor.send('HEAD', `/pets/${petId}`)).status).toBe(410);
    expect((await visitor.get('/pets/4711')).status).toBe(410);
  });
});

const SATURDAY = Date.UTC(2026, 10, 21, 9, 30);
const SUNDAY = Date.UTC(2026, 10, 22, 0, 0, 0, 7);
type Known = Awaited<ReturnType<TestService['issueKey']>>;
type Get = (known: Known, target?: string) => Promise<unknown>;

/** Starts the service, works, and stops the service, which then writes all calls. */
async function run(now: number, work: (get: Get, service: TestService) => Promise<unknown>): Promise<void> {
  const service = await startService({ database: serving.database });
  service.clock.set(now);
  await work(({ key }, target = `/pets/${petId}`) => service.callerWith(key).get(target), service);
  await service.close();
}

it('Calls are reported by key and UTC day, with the time of the last call, also those of earlier runs', async () => {
  serving.clock.set(SUNDAY);
  const [one, other, gone] = [await serving.issueKey(), await serving.issueKey(), await serving.issueKey()];
  const reduced = await serving.issueKey({ scopes: ['write'] });
  const limited = await serving.issueKey({ perMinute: 1, perDay: 9 });
  const clients = [one, other, gone, reduced, limited].map(({ client }) => client);
  const report = async (days: number, client?: string) =>
    (await serving.app.get(DeprecatedCalls).report(days, client)).filter((use) =>
      clients.includes(use.client),
    );
  const use = ({ key, keyId, client }: Known, calls: number, lastCallAt: number) => ({
    operation: 'getPet',
    client,
    keyId,
    endsWith: key.slice(-4),
    calls,
    lastCallAt: new Date(lastCallAt),
  });
  await run(SATURDAY, async (get, service) => {
    await get(one);
    await get(one, '/pets/4711');
    await service.callerWith(one.key).send('HEAD', `/pets/${petId}`);
    await get(one, `/pets?id=${petId}`);
    await service.callerWith(one.key).delete('/pets/4711');
    await get(other);
    await get(other);
    await get(gone);
    // A call does not count if its key lacks the scope, is over its limit, or is missing.
    await get(reduced);
    await get(limited);
    await get(limited);
    await service.anonymous().get(`/pets/${petId}`);
    service.clock.set(SUNDAY);
    await get(one);
    // Even if a key is deleted before its calls are written, the calls of other keys are written.
    await serving.database.pool.query(`DELETE FROM api_keys WHERE id = $1`, [gone.keyId]);
  });
  expect(await report(2)).toEqual([use(one, 4, SUNDAY), use(other, 2, SATURDAY), use(limited, 1, SATURDAY)]);
  expect(await report(1)).toEqual([use(one, 1, SUNDAY)]);
  expect(await report(90, 'nobody')).toEqual([]);

  // An instance whose clock is behind does not replace the time of the last call by an earlier one.
  await run(SATURDAY - 1, (get) => get(other, '/pets/4711'));
  expect(await report(2, other.client)).toEqual([use(other, 3, SATURDAY)]);
});
