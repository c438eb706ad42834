import fc from 'fast-check';
import { parseJson } from '#libs/http';

const parse = (text: string) => parseJson(Buffer.from(text));

it('Any bytes are read or rejected with 400', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        parseJson(Buffer.from(bytes));
      } catch (error) {
        expect(error).toMatchObject({
          status: 400,
          code: expect.stringMatching(/^(malformed_json|validation_failed)$/) as string,
        });
      }
    }),
  );
});

test.each([
  ['"__proto__"', '__proto__'],
  ['\uFEFF1', 1],
  ['-0', -0],
  ['1e400', Infinity],
])('%s is read as %j', (text, value) => {
  expect(parse(text)).toBe(value);
});

test.each([
  ['{"a":[0.99999999999999999999,"0.99999999999999999999"]}', { a: [0.5, '0.99999999999999999999'] }],
  ['-49e-326', 0.5],
  ['1e-400', 0.5],
  ['1.5', 1.5],
  ['900719925474099.99', 0.5],
  ['1000000000000000.5', 1000000000000000.5],
  ['9007199254740992.5', 0.5],
  ['0.000e-99999999999', 0],
  ['12300000000000000000000E-20', 123],
  ['"\\"1e-999\\\\"', '"1e-999\\'],
])('%s does not become an integer by rounding: %j', (text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each([
  ['a byte that is invalid in UTF-8', '"\xff"'],
  ['latin1', '"\xe9"'],
  ['an overlong sequence', '"\xc0\xaf"'],
  ['a surrogate', '"\xed\xa0\x80"'],
  ['a sequence that ends too early', '1\xe2\x82'],
  ['UTF-16', '\xff\xfe1\0'],
])('%s is refused, not replaced', (_what, bytes) => {
  const parsed = () => parseJson(Buffer.from(bytes, 'latin1'));
  expect(parsed).toThrow(expect.objectContaining({ code: 'malformed_json' }));
});

test('One byte order mark is ignored, and a second one is invalid', () => {
  expect(() => parse('\uFEFF\uFEFF1')).toThrow('The body is not valid JSON');
});
