import { Bench, expectError } from './support/bench';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);
let category: number;

beforeAll(async () => {
  const answer = await (await service.caller()).post<{ id: number }>('/categories', { name: 'Dogs' });
  category = answer.body.id;
});

const BODY = '{"name":"A"}';

function send(line: string, fields: string[], body = BODY) {
  return bench.withKey(line, [...fields, `Content-Length: ${body.length}`], body);
}

const REFUSED = [
  [],
  ['Content-Type:'],
  ['Content-Type: text/plain'],
  ['Content-Type: application/x-www-form-urlencoded'],
  ['Content-Type: multipart/form-data; boundary=x'],
  ['Content-Type: application/jsonp'],
  ['Content-Type: application/vnd.api+json'],
  ['Content-Type: application/json; charset=latin1'],
  ['Content-Type: application/json; charset=utf-16'],
  ['Content-Type: application/json; charset='],
  ['Content-Type: /'],
  ['Content-Type: application'],
  ['Content-Type: application/json/x'],
  ['Content-Type: application json'],
  ['Content-Type: application/json, text/plain'],
  ['Content-Type: application/json', 'Content-Encoding: gzip'],
  ['Content-Type: application/json', 'Content-Encoding: br'],
  ['Content-Type: application/json', 'Content-Encoding: identity, gzip'],
];

const TAKEN = [
  ['Content-Type: application/json'],
  ['Content-Type: APPLICATION/JSON'],
  ['Content-Type: application/json;charset=utf-8'],
  ['Content-Type: application/json ; charset="UTF-8"'],
  ['Content-Type: application/json', 'Content-Encoding: identity'],
];

describe('a body with an unsupported type, character set or coding is 415', () => {
  test.each(REFUSED.map((fields) => [fields.join(', ') || 'no Content-Type', fields] as const))(
    '%s',
    async (_what, fields) => {
      expectError(await send('POST /categories', [...fields]), 415, 'unsupported_media_type', 'key');
    },
  );

  it('in a transfer coding that Node does not decode', async () => {
    const fields = ['Content-Type: application/json', 'Transfer-Encoding: gzip, chunked'];
    const answer = await bench.withKey('POST /categories', fields, '0\r\n\r\n');
    expectError(answer, 415, 'unsupported_media_type', 'key');
  });

  it('as a merge patch, where the operation does not document it', async () => {
    const answer = await send('POST /categories', ['Content-Type: application/merge-patch+json']);
    expectError(answer, 415, 'unsupported_media_type', 'key');
  });
});

describe('a body of the right type is accepted', () => {
  test.each(TAKEN.map((fields) => [fields.join(', '), fields] as const))('%s', async (_what, fields) => {
    expect((await send('POST /categories', [...fields])).status).toBe(201);
  });

  test.each([
    'application/json',
    'application/merge-patch+json',
    'application/merge-patch+json; charset=utf-8',
  ])('PATCH accepts %s', async (type) => {
    const pet = `{"name":"Rex","categoryId":${category}}`;
    const created = await send('POST /pets', ['Content-Type: application/json'], pet);
    const { id } = JSON.parse(created.text) as { id: number };
    expect(await send(`PATCH /pets/${id}`, [`Content-Type: ${type}`])).toMatchObject({ status: 200 });
  });
});
