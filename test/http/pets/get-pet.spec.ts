import type { Answer, ErrorBody } from '../../support/api-client';
import { Arrange, type Pet } from '../../support/builders';
import { useStore } from '../../support/use-service';

/** What every answer of the deprecated operation owes its caller, as RFC 9745 and RFC 8594 have it. */
function expectDeprecation({ headers }: Answer<unknown>, successor: string): void {
  expect(headers.get('deprecation')).toBe('@1793491200');
  expect(headers.get('sunset')).toBe('Mon, 01 Nov 2027 00:00:00 GMT');
  expect(headers.get('link')).toMatch(/<[^>]+>; rel="deprecation"/);
  expect(headers.get('link')).toContain(`<${successor}>; rel="successor-version"`);
  expect(headers.has('warning')).toBe(false);
}

describe('GET /pets/{petId}', () => {
  const { service, caller } = useStore();
  let pet: Pet;
  let target: string;

  beforeAll(async () => {
    pet = await new Arrange(caller).pet();
    target = `/pets/${pet.id}`;
  });

  it('200: returns the pet and announces the deprecation', async () => {
    const answer = await caller.get<Pet>(target);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(pet);
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  it('200: names a successor that returns the same pet', async () => {
    const { headers } = await caller.get(target);
    const [, successor] = /<([^>]+)>; rel="successor-version"/.exec(headers.get('link')!)!;
    expect((await caller.get<Pet[]>(successor!)).body).toEqual([pet]);
  });

  it('200: answers HEAD with the same header fields and no body', async () => {
    const got = await caller.get(target);
    const head = await caller.send('HEAD', target);
    expect([head.status, head.text]).toEqual([200, '']);
    expectDeprecation(head, `/pets?id=${pet.id}`);
    expect(head.headers.get('etag')).toBe(got.headers.get('etag'));
    expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'));
  });

  it('304: announces it too', async () => {
    const { headers } = await caller.get(target);
    const answer = await caller.with({ 'If-None-Match': headers.get('etag')! }).get(target);
    expect([answer.status, answer.text]).toEqual([304, '']);
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  test.each([
    ['0', '0'],
    ['01', '01'],
    ['1.5', '1.5'],
    ['x', 'x'],
    ['9007199254740992', '9007199254740992'],
    ['1%3E%3B', '1%3E%3B'],
    ['1%0D%0AX-Injected:1', '1%0D%0AX-Injected%3A1'],
  ])('400: announces it with the invalid id %s', async (id, escaped) => {
    const answer = await caller.get<ErrorBody>(`/pets/${id}`);
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.headers.has('x-injected')).toBe(false);
    expectDeprecation(answer, `/pets?id=${escaped}`);
  });

  it('400: announces it with a query parameter', async () => {
    const answer = await caller.get<ErrorBody>(`${target}?status=sold`);
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  test.each([
    ['no key', {}, 'missing_api_key'],
    ['an invalid key', { 'X-API-Key': 'none' }, 'invalid_api_key'],
  ])('401: announces it with %s', async (_what, headers, code) => {
    const answer = await service.anonymous().with(headers).get<ErrorBody>(target);
    expect(answer.body).toMatchObject({ code, status: 401 });
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  it('403: announces it to a key without the scope read', async () => {
    const writer = await service.caller({ scopes: ['write'] });
    const answer = await writer.get<ErrorBody>(target);
    expect(answer.body).toMatchObject({ code: 'insufficient_scope', status: 403 });
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  it('404: announces it for a pet that never existed', async () => {
    const answer = await caller.get<ErrorBody>('/pets/4711');
    expect(answer.body).toEqual({ code: 'pet_not_found', message: 'There is no pet 4711.', status: 404 });
    expectDeprecation(answer, '/pets?id=4711');
  });

  it('429: announces it over the limit', async () => {
    const limited = await service.caller({ perMinute: 1, perDay: 10 });
    await limited.get(target);
    const answer = await limited.get<ErrorBody>(target);
    expect(answer.body).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expectDeprecation(answer, `/pets?id=${pet.id}`);
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('is the only deprecated operation: %s is not', async (method) => {
    const body = method === 'DELETE' ? undefined : { name: 'Rex', categoryId: pet.categoryId };
    const answer = await caller.send(method, `/pets/${method === 'DELETE' ? 4_711 : pet.id}`, body);
    expect(['deprecation', 'sunset', 'link'].filter((name) => answer.headers.has(name))).toEqual([]);
  });
});
