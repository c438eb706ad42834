import { defineError } from '#libs/http';

it('A code can be defined only once', () => {
  const definition = {
    code: 'test_plain',
    status: 400,
    when: 'Always.',
    message: () => '',
    example: [] as [],
  };
  defineError(definition);
  expect(() => defineError(definition)).toThrow('The error code test_plain is defined twice.');
});
