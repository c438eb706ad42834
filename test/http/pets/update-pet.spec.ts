import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type Pet, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('PATCH /pets/{petId}', () => {
  let service: TestService;
  let caller: ApiClient;
  let arrange: Arrange;
  let pet: Pet;
  let target: string;

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    arrange = new Arrange(caller);
  });
  beforeEach(async () => {
    pet = await arrange.pet();
    target = `/pets/${pet.id}`;
  });
  afterAll(() => service.close());

  describe('200', () => {
    test.each([{}, { name: 'Max' }, { status: 'sold' }, { name: 'Max', status: 'pending' }])(
      'changes what %j names, and leaves the rest unchanged',
      async (patch) => {
        const answer = await caller.patch<Pet>(target, patch);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual({ ...pet, ...patch });
        expect((await caller.get<Pet>(target)).body).toEqual({ ...pet, ...patch });
      },
    );

    it('moves the pet to another category', async () => {
      const { id: categoryId } = await arrange.category();
      expect((await caller.patch<Pet>(target, { categoryId })).body).toEqual({ ...pet, categoryId });
      expect((await caller.get(`/pets?categoryId=${pet.categoryId}`)).body).toEqual([]);
    });

    test.each([
      'application/json',
      'application/merge-patch+json',
      'application/merge-patch+json; charset=utf-8',
      'Application/Merge-Patch+JSON',
    ])('accepts %s', async (type) => {
      const answer = await caller.with({ 'Content-Type': type }).patch<Pet>(target, { name: type });
      expect(answer.body.name).toBe(type);
    });

    it('returns what the next GET returns, with its ETag', async () => {
      const patched = await caller.patch(target, { name: 'Max' });
      const got = await caller.get(target);
      expect(patched.text).toBe(got.text);
      expect(patched.headers.get('etag')).toBe(got.headers.get('etag'));
    });

    it('loses none of many concurrent changes to different fields', async () => {
      const { id: categoryId } = await arrange.category();
      await Promise.all([
        caller.patch(target, { name: 'Max' }),
        caller.patch(target, { categoryId }),
        caller.patch(target, { status: 'sold' }),
      ]);
      expect((await caller.get(target)).body).toEqual({
        id: pet.id,
        name: 'Max',
        categoryId,
        status: 'sold',
      });
    });
  });

  test.each([{ name: null }, { categoryId: null }, { status: null }])(
    '400: cannot remove a field, as all are required: %j',
    async (patch) => {
      const { body } = await caller.patch<ErrorBody>(target, patch);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect((await caller.get(target)).body).toEqual(pet);
    },
  );

  test.each(['4711', String(Number.MAX_SAFE_INTEGER)])('404: pet %s does not exist', async (id) => {
    const { body } = await caller.patch<ErrorBody>(`/pets/${id}`, { name: 'Max' });
    expect(body).toMatchObject({ code: 'pet_not_found', status: 404 });
  });

  describe('a manual status change', () => {
    const BUILDERS = { available: aPet(), pending: aPet().pending(), sold: aPet().sold() };
    const STATUSES = ['available', 'pending', 'sold'] as const;
    const TRANSITIONS = STATUSES.flatMap((from) => {
      return STATUSES.map((to) => [from, to, from === 'sold' && to === 'pending' ? 409 : 200] as const);
    });

    describe.each(['PATCH', 'PUT'])('with %s', (method) => {
      test.each(TRANSITIONS)('from %s to %s is answered %i', async (from, to, status) => {
        const { id, name, categoryId } = await arrange.pet(BUILDERS[from]);
        const body = method === 'PUT' ? { name, categoryId, status: to } : { status: to };
        const answer = await caller.send(method, `/pets/${id}`, body);
        expect(answer.status).toBe(status);
        if (status === 409) {
          const message = 'A sold pet cannot become pending.';
          expect(answer.body).toEqual({ code: 'invalid_status_transition', message, status });
        }
        const after = await caller.get<Pet>(`/pets/${id}`);
        expect(after.body.status).toBe(status === 409 ? from : to);
      });
    });

    it('409: a refused change changes no other field either', async () => {
      const { id } = await arrange.pet(aPet().sold());
      await caller.patch(`/pets/${id}`, { name: 'Max', status: 'pending' });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.name).toBe('Rex');
    });
  });

  it('412: rejects a change based on an outdated ETag', async () => {
    const { headers } = await caller.get(target);
    const holder = caller.with({ 'If-Match': headers.get('etag')! });
    expect((await holder.patch(target, { name: 'Max' })).status).toBe(200);
    const { body } = await holder.patch<ErrorBody>(target, { name: 'Bello' });
    expect(body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get<Pet>(target)).body.name).toBe('Max');
  });

  test.each([
    'text/plain',
    'application/json-patch+json',
    'application/json; charset=latin1',
    'application/*',
  ])('415: rejects %s and lists what it accepts', async (type) => {
    const { body } = await caller.with({ 'Content-Type': type }).patch<ErrorBody>(target, '{}');
    expect(body).toMatchObject({ code: 'unsupported_media_type', status: 415 });
    expect(body.message).toContain('application/json or application/merge-patch+json');
  });

  it('422: rejects a category that does not exist and changes nothing', async () => {
    const { body } = await caller.patch<ErrorBody>(target, { name: 'Max', categoryId: 4_711 });
    expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(target)).body).toEqual(pet);
  });
});
