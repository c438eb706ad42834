import type { ErrorBody } from '../../support/api-client';
import { Arrange, type Pet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const OPERATIONS = ['POST', 'PUT', 'PATCH'] as const;

/** Fields as JSON text, since some of them cannot be written as a value. */
const BAD_FIELDS = [
  ['an empty name', '"name": ""', 'name must be 1 to 200 characters'],
  ['a name of 201 characters', `"name": "${'a'.repeat(201)}"`, 'name must be'],
  ['a name of 201 characters beyond the BMP', `"name": "${'🐕'.repeat(201)}"`, 'name must be'],
  ['a name of white space', '"name": " \\t\\u3000"', 'at least one of them not white space'],
  ['a name with NUL', '"name": "R\\u0000x"', 'without NUL'],
  ['a name with an unpaired high surrogate', '"name": "Rex\\ud83d"', 'name must be'],
  ['a name with an unpaired low surrogate', '"name": "\\udc15Rex"', 'name must be'],
  ['a name that is a number', '"name": 1', 'name must be'],
  ['a name that is null', '"name": null', 'name must be'],
  ['a name that is nested deeply', `"name": ${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'name must be'],
  ['a categoryId of 0', '"categoryId": 0', 'categoryId must be an integer from 1 to 9007199254740991'],
  ['a negative categoryId', '"categoryId": -1', 'categoryId must be'],
  ['a categoryId with a fraction', '"categoryId": 1.5', 'categoryId must be'],
  ['a categoryId as text', '"categoryId": "1"', 'categoryId must be'],
  ['an infinite categoryId', '"categoryId": 1e400', 'categoryId must be'],
  ['a categoryId above the maximum', '"categoryId": 9007199254740992', 'categoryId must be'],
  ['a categoryId that no number represents exactly', '"categoryId": 9007199254740993', 'categoryId must be'],
  ['a categoryId of null', '"categoryId": null', 'categoryId must be'],
  ['a categoryId of true', '"categoryId": true', 'categoryId must be'],
  ['an unknown status', '"status": "lost"', 'status must be one of available, pending, sold'],
  ['a status in another case', '"status": "Sold"', 'status must be'],
  ['a status of null', '"status": null', 'status must be'],
  ['an array as status', '"status": ["sold"]', 'status must be'],
  ['an id, which the service assigns', '"id": 1', '"id" is not allowed here'],
  ['an unknown field', '"colour": "red"', '"colour" is not allowed here (allowed: name, '],
  ['a field that objects inherit', '"hasOwnProperty": 1', '"hasOwnProperty" is not allowed here'],
  ['a field that targets the prototype', '"__proto__": {}', '__proto__'],
] as const;

describe('the values of a pet', () => {
  const { caller } = useStore();
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
      ['SQL and HTML', `'; DROP TABLE pets; --<b>%_\\`],
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

    test.each([
      ['an array', '[]'],
      ['null', 'null'],
      ['text', '"Rex"'],
      ['nothing', undefined],
    ])('rejects a body that is %s', async (_what, text) => {
      const { body } = await send<ErrorBody>(text);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(body.message).toContain('must be a JSON object');
    });

    test.each(['name', 'categoryId'])('may omit %s only in a PATCH', async (field) => {
      const valid = { name: 'Rex', categoryId: pet.categoryId };
      const { status, text } = await send({ ...valid, [field]: undefined });
      expect(status).toBe(method === 'PATCH' ? 200 : 400);
      expect(text.includes(`${field} is required`)).toBe(status === 400);
    });
  });
});
