import fc from 'fast-check';
import { readCatalogueLine } from '../../../src/modules/catalogue/catalogue-line';

const category = { kind: 'category', id: 3, name: 'Dogs', description: 'Loyal.' };
const pet = { kind: 'pet', name: 'Rex', categoryId: 3, status: 'available', quantity: 1 };
const read = (value: object) => readCatalogueLine(JSON.stringify(value));
const without = (field: string, value: object) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));

describe('a line of a catalogue', () => {
  it.each([
    ['a category', category, category],
    ['a category without description', without('description', category), without('description', category)],
    ['a pet', { ...pet, quantity: 7 }, { ...pet, quantity: 7 }],
    ['a pet with its former id', { id: 9, ...pet }, pet],
    ['a pet without a status, which is available', without('status', pet), pet],
    ['a pet without a quantity, which has one unit', without('quantity', pet), pet],
    [
      'a sold pet without a quantity, which has no stock',
      without('quantity', { ...pet, status: 'sold' }),
      { ...pet, status: 'sold', quantity: 0 },
    ],
    ['a sold pet with stock', { ...pet, status: 'sold' }, { ...pet, status: 'sold' }],
    ['the maximum quantity', { ...pet, quantity: 2_147_483_647 }, { ...pet, quantity: 2_147_483_647 }],
    ['200 characters', { ...pet, name: '😀'.repeat(200) }, { ...pet, name: '😀'.repeat(200) }],
  ])('may be %s', (_what, line, record) => expect(read(line)).toEqual({ record }));

  it.each([
    ['a name of white space', { ...pet, name: ' \t' }, /^name must be 1 to 200 characters/],
    ['a name of 201 characters', { ...pet, name: 'x'.repeat(201) }, /^name must be/],
    ['NUL in a name', { ...category, name: 'a\0' }, /^name must be .*without NUL/],
    ['half of a surrogate pair', { ...pet, name: 'a\ud800' }, /^name must be .*unpaired surrogates/],
    ['no name', without('name', pet), /^name is required/],
    [
      'a long description',
      { ...category, description: 'x'.repeat(2_001) },
      /^description must be at most 2000/,
    ],
    ['null as description', { ...category, description: null }, /^description must be/],
    ['another status', { ...pet, status: 'lost' }, /^status must be one of available, pending, sold/],
    ['half a unit', { ...pet, quantity: 0.5 }, /^quantity must be an integer from 0 to 2147483647/],
    ['a negative quantity', { ...pet, quantity: -1 }, /^quantity must be/],
    ['a quantity above the maximum', { ...pet, quantity: 2_147_483_648 }, /^quantity must be/],
    ['a quantity in quotes', { ...pet, quantity: '1' }, /^quantity must be/],
    ['a category without id', without('id', category), /^id is required/],
    ['an id of 0', { ...category, id: 0 }, /^id must be an integer from 1/],
    ['no category', without('categoryId', pet), /^categoryId is required/],
    [
      'an unknown field',
      { ...pet, colour: 'red' },
      /^"colour" is not allowed here \(allowed: kind, id, name/,
    ],
    ['a description of a pet', { ...pet, description: 'x' }, /^"description" is not allowed/],
    ['another kind', { ...pet, kind: 'order' }, /^kind must be one of category, pet/],
    ['no kind', without('kind', pet), /^kind is required and must be one of category, pet/],
    ['several mistakes', { ...pet, status: 1, quantity: 'x' }, /^status must.*; quantity must/],
  ])('is rejected with %s', (_what, line, problem) =>
    expect(read(line)).toEqual({ problem: expect.stringMatching(problem) }),
  );

  it.each(['', '{', 'nope', '{"kind":"pet"', '[1]', '"pet"', 'null', '7', '[]'])(
    'is rejected as %j',
    (text) => {
      expect(readCatalogueLine(text)).toEqual({ problem: expect.stringMatching(/^must be a JSON object/) });
    },
  );

  it('cannot reach into prototypes', () => {
    const text = JSON.stringify(pet).replace('{', '{"__proto__":{"quantity":5},');
    expect(readCatalogueLine(text)).toEqual({
      problem: expect.stringMatching(/^"__proto__" is not allowed/),
    });
  });

  it('cannot be a category where only pets are expected', () => {
    expect(readCatalogueLine(JSON.stringify(category), true)).toEqual({
      problem: expect.stringMatching(/^kind must be pet/),
    });
    expect(readCatalogueLine(JSON.stringify(pet), true)).toEqual({ record: pet });
  });
});

describe('any input', () => {
  const fields = fc.record(
    {
      kind: fc.oneof(fc.constantFrom<unknown>('pet', 'category'), fc.jsonValue()),
      id: fc.oneof(fc.integer(), fc.jsonValue()),
      name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      categoryId: fc.oneof(fc.maxSafeInteger(), fc.jsonValue()),
      status: fc.oneof(fc.constantFrom<unknown>('available', 'pending', 'sold'), fc.jsonValue()),
      quantity: fc.oneof(fc.nat(), fc.double(), fc.jsonValue()),
      description: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
    },
    { requiredKeys: ['kind'] },
  );
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fields.map((value) => JSON.stringify(value)),
    fields.chain((value) => {
      const text = JSON.stringify(value);
      return fc.nat(text.length).map((length) => text.slice(0, length));
    }),
  );

  it('is a record or a problem, and a record can be written and read again', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), (text, petsOnly) => {
        const line = readCatalogueLine(text, petsOnly);
        if ('problem' in line) {
          expect(line.problem).toMatch(/ must be | is not allowed |^must be /);
        } else {
          expect(read(line.record)).toEqual(line);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
