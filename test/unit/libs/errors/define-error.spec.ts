// Own sources: the errors that are defined here must not be in anybody else's catalogue.
import { ApiError, defineError, errorCatalogue } from '#libs/http';

const TeapotError = defineError({
  code: 'test_teapot',
  status: 418,
  when: 'Coffee is asked of a teapot.',
  message: (drink: string) => `A teapot has no ${drink}.`,
  headers: (drink: string) => ({ 'X-Drink': drink }),
  example: ['coffee'],
});
const PlainError = defineError({
  code: 'test_plain',
  status: 400,
  when: 'Always.',
  message: () => 'Plainly wrong.',
  example: [],
});

it('A defined error carries its code, status, message and header fields, and its body the first three only', () => {
  const error = new TeapotError('cocoa');
  const body = { code: 'test_teapot', message: 'A teapot has no cocoa.', status: 418 };
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ ...body, headers: { 'X-Drink': 'cocoa' } });
  expect(error.toBody()).toEqual(body);
});

it('Each kind of error matches only itself, and has only its own header fields', () => {
  expect(new PlainError()).not.toBeInstanceOf(TeapotError);
  expect(new PlainError().headers).toEqual({});
});

it('The catalogue describes it, with its real message and headers', () => {
  expect(errorCatalogue()).toContainEqual({
    code: 'test_teapot',
    status: 418,
    when: 'Coffee is asked of a teapot.',
    example: 'A teapot has no coffee.',
    exampleHeaders: { 'X-Drink': 'coffee' },
  });
  expect(TeapotError.definition.code).toBe('test_teapot');
});

it('The catalogue is ordered by status and then by code', () => {
  const rows = errorCatalogue().map(({ status, code }) => [status, code] as const);
  expect(rows).toEqual([...rows].sort(([a, b], [c, d]) => a - c || (b < d ? -1 : 1)));
});

it('A code can be defined only once', () => {
  const again = () => defineError({ ...PlainError.definition, message: () => '', example: [] });
  expect(again).toThrow('The error code test_plain is defined twice.');
});
