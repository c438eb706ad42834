import type { ErrorBody } from '../../support/api-client';
import { Arrange, type Pet, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const { caller, arrange } = useStore();

describe('PATCH /pets/{petId}', () => {
  let pet: Pet;
  let target: string;

  beforeEach(async () => {
    pet = await arrange.pet();
    target = `/pets/${pet.id}`;
  });
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

  describe('a manual status change', () => {
    test.each(['PATCH', 'PUT'])('with %s: a sold pet cannot become pending', async (method) => {
      const { id, name, categoryId } = await arrange.pet(aPet().sold());
      const answer = await caller.send(method, `/pets/${id}`, { name, categoryId, status: 'pending' });
      const message = 'A sold pet cannot become pending.';
      expect(answer.body).toEqual({ code: 'invalid_status_transition', message, status: 409 });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.status).toBe('sold');
    });

    it('409: a refused change changes no other field either', async () => {
      const { id } = await arrange.pet(aPet().sold());
      await caller.patch(`/pets/${id}`, { name: 'Max', status: 'pending' });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.name).toBe('Rex');
    });
  });

  it('422: rejects a category that does not exist and changes nothing', async () => {
    const { body } = await caller.patch<ErrorBody>(target, { name: 'Max', categoryId: 4_711 });
    expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(target)).body).toEqual(pet);
  });
});

const OPERATIONS = ['POST', 'PUT', 'PATCH'] as const;

/** Fields as JSON text, since some of them cannot be written as a value. */
const BAD_FIELDS = [
  ['a name of no characters', '"name": ""', 'name must be 1 to 200 characters'],
  ['a name with NUL', '"name": "R\\u0000x"', 'without NUL'],
  ['a name that is null', '"name": null', 'name must be'],
  ['a name that is nested deeply', `"name": ${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'name must be'],
  ['a categoryId of 0', '"categoryId": 0', 'categoryId must be an integer from 1 to 9007199254740991'],
  ['a categoryId as text', '"categoryId": "1"', 'categoryId must be'],
  ['an infinite categoryId', '"categoryId": 1e400', 'categoryId must be'],
  ['a categoryId that no number carries exactly', '"categoryId": 9007199254740993', 'categoryId must be'],
  ['a categoryId of null', '"categoryId": null', 'categoryId must be'],
  ['an unknown status', '"status": "lost"', 'status must be one of available, pending, sold'],
  ['a status of null', '"status": null', 'status must be'],
  ['a field that objects inherit', '"hasOwnProperty": 1', '"hasOwnProperty" is not allowed here'],
  ['a field that reaches for the prototype', '"__proto__": {}', '__proto__'],
] as const;

describe('the values of a pet', () => {
  let pet: Pet;

  beforeAll(async () => {
    pet = await new Arrange(caller).pet();
  });

  describe.each(OPERATIONS)('%s', (method) => {
    const send = <Body>(body?: object | string) =>
      caller.send<Body>(method, method === 'POST' ? '/pets' : `/pets/${pet.id}`, body);

    test.each([
      ['one character', 'R'],
      ['200 characters', 'a'.repeat(200)],
      ['200 characters beyond the BMP', '🐕'.repeat(200)],
      ['white space around something', ' Rex\n'],
      ['what SQL and HTML would make something of', `'; DROP TABLE pets; --<b>%_\\`],
    ])('stores a name of %s unchanged', async (_what, name) => {
      const { body } = await send<Pet>({ name, categoryId: pet.categoryId });
      expect(body.name).toBe(name);
      expect((await caller.get<Pet[]>(`/pets?id=${body.id}`)).body[0]!.name).toBe(name);
    });

    test.each(BAD_FIELDS)('rejects %s', async (_what, field, hint) => {
      const valid = { name: 'Rex', categoryId: pet.categoryId };
      const others = Object.entries(valid).filter(([name]) => !field.startsWith(`"${name}"`));
      const members = [field, ...others.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)];
      const { body } = await send<ErrorBody>(`{${members.join(', ')}}`);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(body.message).toContain(hint);
    });

    test.each(['name', 'categoryId'])('may omit %s only in a PATCH', async (field) => {
      const valid = { name: 'Rex', categoryId: pet.categoryId };
      const { status, text } = await send({ ...valid, [field]: undefined });
      expect(status).toBe(method === 'PATCH' ? 200 : 400);
      expect(text.includes(`${field} is required`)).toBe(status === 400);
    });
  });
});
