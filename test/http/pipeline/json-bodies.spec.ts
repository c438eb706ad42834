import { Bench, expectError } from './support/bench';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);

/** Bodies are bytes, written as latin1 text. */
function post(body: string, fields: string[] = ['Content-Type: application/json']) {
  return bench.withKey('POST /categories', [...fields, `Content-Length: ${body.length}`], body);
}

describe('a body that is not JSON in UTF-8 is 400 malformed_json', () => {
  test.each([
    ['ends too early', '{"name":"A"'],
    ['has a trailing comma', '{"name":"A",}'],
    ['has a comment', '{"name":"A"/**/}'],
    ['has single quotes', "{'name':'A'}"],
    ['is two values', '{"name":"A"}{}'],
    ['is a word', 'undefined'],
    ['is NaN', 'NaN'],
    ['is white space', ' \r\n'],
    ['is a form', 'name=A'],
    ['has an unescaped control character', '{"name":"\x01"}'],
    ['has a byte that is invalid in UTF-8', '{"name":"\xff"}'],
    ['is latin1', '{"name":"\xe9"}'],
    ['has an overlong UTF-8 sequence', '{"name":"\xc0\xaf"}'],
    ['has a UTF-8 surrogate', '{"name":"\xed\xa0\x80"}'],
    ['ends within a UTF-8 sequence', '{"name":"A"}\xe2\x82'],
    ['is UTF-16', '\xff\xfe{\0}\0'],
    ['is nested too deeply to parse', '['.repeat(60_000)],
  ])('%s', async (_what, body) => {
    expectError(await post(body), 400, 'malformed_json', 'key');
  });
});

describe('a JSON body that is not an object is 400 validation_failed', () => {
  test.each(['[]', '"name"', '1', 'true', 'null', `${'['.repeat(5_000)}${']'.repeat(5_000)}`])(
    '%.20s',
    async (body) => {
      const answer = await post(body);
      expectError(answer, 400, 'validation_failed', 'key');
      expect(answer.text).toContain('JSON object');
    },
  );

  test.each([
    ['a length of 0', ['Content-Type: application/json', 'Content-Length: 0'], ''],
    ['no length', ['Content-Type: application/json'], ''],
    ['neither length nor type', [], ''],
    ['no chunk', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ])('no body: %s', async (_what, fields, body) => {
    const answer = await bench.withKey('POST /categories', fields, body);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('needs a body');
  });
});

describe('members that reach into a prototype are rejected', () => {
  test.each([
    '{"name":"A","__proto__":{"description":"x"}}',
    '{"name":"A","\\u005f_proto__":{}}',
    '{"name":"A","constructor":{"prototype":{"description":"x"}}}',
    '{"name":"A","toString":1}',
    '{"name":"A","hasOwnProperty":1}',
    '{"name":{"__proto__":{}}}',
  ])('%s', async (body) => {
    expectError(await post(body), 400, 'validation_failed', 'key');
    expect(({} as { description?: string }).description).toBeUndefined();
  });
});

describe('an accepted body', () => {
  test.each([
    ['begins with a byte order mark', '\xef\xbb\xbf{"name":"A"}', 'A'],
    ['is surrounded by white space', '\r\n {"name":"A"}\t\n', 'A'],
    ['is UTF-8', '{"name":"\xc3\xa9\xf0\x9f\x90\x95"}', 'é🐕'],
    ['has escapes', '{"name":"\\u00e9\\ud83d\\udc15"}', 'é🐕'],
    ['names a member twice: the last one counts', '{"name":"A","name":"B"}', 'B'],
  ])('%s', async (_what, body, name) => {
    const answer = await post(body);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({ name });
  });
});

describe('an operation without a body refuses one', () => {
  test.each(['GET /categories', 'DELETE /categories/999', 'POST /webhooks/1/test'])('%s', async (line) => {
    const plain = await bench.withKey(line, ['Content-Length: 0']);
    const loaded = await bench.withKey(line, ['Content-Type: application/json', 'Content-Length: 2'], '{}');
    expect(plain.text).not.toContain('body');
    expectError(loaded, 400, 'validation_failed', 'key');
    expect(loaded.text).toContain('takes no body');
  });
});
