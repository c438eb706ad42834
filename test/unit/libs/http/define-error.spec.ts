import { ApiError, defineError } from '#libs/http';

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

it('A code can be defined only once', () => {
  const again = () => defineError({ ...PlainError.definition, message: () => '', example: [] });
  expect(again).toThrow('The error code test_plain is defined twice.');
});
