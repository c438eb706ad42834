import { aPet } from '../../support/builders';
import { until } from '../../support/eventually';
import { RawConnection, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();

/** The line of the request with this X-Request-Id. */
function lineOf(reqId: string): Record<string, unknown> {
  const lines = service.log.lines.filter((line) => line.reqId === reqId);
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

describe('The log line of a request', () => {
  it('has the request, its result, its duration and the caller', async () => {
    const { key, keyId } = await service.issueKey();
    await service.anonymous().with({ 'X-API-Key': key, 'X-Request-Id': 'known' }).get('/pets/12345');
    expect(lineOf('known')).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      reqId: 'known',
      method: 'GET',
      operation: '/pets/:petId',
      status: 404,
      ms: expect.any(Number) as number,
      clientId: expect.any(Number) as number,
      keyId,
      msg: 'request',
    });
  });

  it('omits an unknown caller and an unknown path', async () => {
    await service.anonymous().with({ 'X-Request-Id': 'stranger' }).get('/secret-of-somebody');
    const line = lineOf('stranger');
    expect(line).not.toHaveProperty('clientId');
    expect(line).not.toHaveProperty('keyId');
    expect(line).toMatchObject({ operation: 'unknown', status: 404 });
  });
});

test('A caller that leaves before its response is sent has a line that says so, without a status', async () => {
  const { key, keyId } = await service.issueKey();
  const remaining = async () => {
    const { headers } = await service.callerWith(key).get('/rate-limit');
    return headers.get('x-ratelimit-remaining');
  };
  const before = await remaining();
  const connection = await RawConnection.open(service.port);
  const fields = [`X-API-Key: ${key}`, 'X-Request-Id: left'];
  connection.write(requestText('GET /events?cursor=now&wait=30', fields));
  await until(async () => (await remaining()) !== before);
  connection.reset();
  await until(() => service.log.lines.some(({ reqId }) => reqId === 'left'));
  expect(lineOf('left')).toMatchObject({ operation: '/events', disconnected: true, keyId });
  expect(lineOf('left')).not.toHaveProperty('status');
});

test('No key, body, path, query or header is logged', async () => {
  const { key } = await service.issueKey();
  const SECRET = 'told-in-confidence';
  const caller = service.anonymous().with({ Authorization: `Bearer ${key}` });
  await caller.post('/pets', aPet().named(SECRET).build());
  await caller.post('/pets', `{"name": "${SECRET}`);
  await caller.get(`/pets?name=${SECRET}`);
  await caller.get(`/pets?cursor=${SECRET}&unknown=${key}`);
  await caller.get(`/${SECRET}/${key}`);
  await caller.with({ 'Idempotency-Key': SECRET, 'If-Match': SECRET, Cookie: SECRET }).delete('/pets/1');
  await caller.with({ Authorization: `Bearer ${key}x`, 'X-API-Key': `${SECRET}${key}` }).get('/pets');
  const raw = await RawConnection.open(service.port);
  raw.write(`GET /${key}/${SECRET} NONSENSE\r\n\r\n`);
  expect((await raw.answer()).status).toBe(400);
  expect(service.log.lines.length).toBeGreaterThan(7);
  expect(service.log.lines.filter((line) => JSON.stringify(line).includes(SECRET))).toEqual([]);
  service.log.expectNoKeys();
});
