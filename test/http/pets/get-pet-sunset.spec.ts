import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

const SUNSET = Date.UTC(2027, 10, 1);

describe.each([
  ['serve', 200, 404],
  ['gone', 410, 410],
] as const)('GET /pets/{petId} after its sunset, with AFTER_SUNSET=%s', (afterSunset, status, ofUnknown) => {
  let service: TestService;
  let caller: ApiClient;
  let target: string;

  beforeAll(async () => {
    service = await startService({ settings: { afterSunset } });
    caller = await service.caller();
    target = `/pets/${(await new Arrange(caller).pet()).id}`;
  });
  beforeEach(() => service.clock.set(SUNSET));
  afterAll(() => service.close());

  it('returns 200 until the last moment before', async () => {
    service.clock.set(SUNSET - 1);
    expect((await caller.get(target)).status).toBe(200);
  });

  test.each(['GET', 'HEAD'])(`answers ${status} to %s from then on`, async (method) => {
    expect((await caller.send(method, target)).status).toBe(status);
  });

  it('still announces the sunset and the successor', async () => {
    const { headers } = await caller.get(target);
    expect(headers.get('deprecation')).toBe('@1793491200');
    expect(headers.get('sunset')).toBe('Mon, 01 Nov 2027 00:00:00 GMT');
    expect(headers.get('link')).toContain('rel="successor-version"');
  });

  it(`answers ${ofUnknown} for a pet that does not exist`, async () => {
    const { body } = await caller.get<ErrorBody>('/pets/4711');
    expect(body).toMatchObject({
      code: ofUnknown === 410 ? 'operation_gone' : 'pet_not_found',
      status: ofUnknown,
    });
  });

  it('answers 401 without a key', async () => {
    expect((await service.anonymous().get(target)).status).toBe(401);
  });

  it('does not affect the successor or other operations on pets', async () => {
    expect((await caller.get(`/pets?id=${target.slice('/pets/'.length)}`)).status).toBe(200);
    expect((await caller.patch(target, { name: 'Max' })).status).toBe(200);
  });
});
