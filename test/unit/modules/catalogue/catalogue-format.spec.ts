import { ApiError } from '#libs/http';
import { lineOf, parseObject } from '../../../../src/modules/catalogue/catalogue-format';

const category = { kind: 'category', id: 3, name: 'Dogs', description: 'Loyal.' };
const pet = { kind: 'pet', name: 'Rex', categoryId: 3, status: 'available', quantity: 1 };

/** The record of a line, or the reason why it is refused. */
function readText(text: string) {
  try {
    return { record: lineOf(parseObject(Buffer.from(text).toString('latin1'))) };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}

const read = (value: object) => readText(JSON.stringify(value));
const without = (field: string, value: object) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));

describe('a line of a catalogue', () => {
  it.each([
    ['a sold pet of which there are some', { ...pet, status: 'sold' }],
    ['the most units there can be', { ...pet, quantity: 2_147_483_647 }],
  ])('may be %s', (_what, line) => expect(read(line)).toEqual({ record: line }));

  // The tests of the validation have all rules of values. This test shows that each field has its rule.
  it.each([
    ['a name of white space', { ...pet, name: ' \t' }, /^name must be 1 to 200 characters/],
    ['a long text', { ...category, description: 'x'.repeat(2_001) }, /^description must be at most 2000/],
    ['another status', { ...pet, status: 'lost' }, /^status must be one of available, pending, sold/],
    ['more units than there can be', { ...pet, quantity: 2_147_483_648 }, /^quantity must be/],
    ['a category without id', without('id', category), /^id is required/],
    ['an unknown field', { ...pet, colour: 'red' }, /^"colour" is not allowed here \(allowed: name, /],
    ['a description of a pet', { ...pet, description: 'x' }, /^"description" is not allowed/],
    ['another kind', { ...pet, kind: 'order' }, /^kind must be one of category, pet/],
    ['no kind', without('kind', pet), /^kind is required and must be one of category, pet/],
    ['several mistakes', { ...pet, status: 1, quantity: 'x' }, /^quantity must.*; status must/],
  ])('is rejected with %s', (_what, line, problem) =>
    expect(read(line)).toEqual({ problem: expect.stringMatching(problem) }),
  );

  it.each(['[1]', '"pet"', 'null', '7'])('is rejected as %j', (text) => {
    expect(readText(text)).toEqual({ problem: expect.stringMatching(/^must be a JSON object/) });
  });
});
