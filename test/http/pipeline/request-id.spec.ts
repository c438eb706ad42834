import { Bench } from './support/bench';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);

const RANDOM = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each(['a', 'A.b_c-1', '0', 'x'.repeat(128)])(
  "A request's own X-Request-Id is returned: %.20s",
  async (id) => {
    for (const line of [
      'GET /pets',
      'GET /nope',
      'PUT /pets',
      'POST /pets',
      'GET /health/live',
      'GET /docs',
    ]) {
      expect((await bench.withKey(line, [`X-Request-Id: ${id}`])).headers['x-request-id']).toBe(id);
    }
  },
);

test.each([
  ['a space', 'a b'],
  ['129 characters', 'x'.repeat(129)],
  ['a line of JSON', '{"a":1}'],
  ['a non-ASCII character', '\xe9'],
  ['nothing', ''],
  ['a tab', 'a\tb'],
])('An id with %s is replaced by a random one', async (_what, id) => {
  const answer = await bench.withKey('GET /pets', [`X-Request-Id: ${id}`]);
  expect(answer.headers['x-request-id']).toMatch(RANDOM);
});

it('Two ids are replaced by a random one', async () => {
  const answer = await bench.withKey('GET /pets', ['X-Request-Id: a', 'X-Request-Id: b']);
  expect(answer.headers['x-request-id']).toMatch(RANDOM);
});

it('Every request without an id gets a unique one', async () => {
  const ids = [];
  for (const line of [
    'GET /pets',
    'GET /pets',
    'GET /nope',
    'OPTIONS *',
    'GET http://x',
    'CONNECT a:1',
    'BREW /',
  ]) {
    ids.push((await bench.withKey(line)).headers['x-request-id']);
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(ids.map(() => expect.stringMatching(RANDOM) as string));
});
