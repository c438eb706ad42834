import { RawConnection, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
const CHUNK = '1\r\na\r\n';

/** A POST whose body comes byte by byte and does not end. */
const inChunks = (count: number, fields: string[]): string =>
  requestText('POST /categories', [
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    ...fields,
  ]) + CHUNK.repeat(count);

it.each([
  ['with a key', 400, 'bad_request'],
  ['without a key', 401, 'missing_api_key'],
])('a body in very many chunks is refused, and its connection closed: %s', async (how, status, code) => {
  const { key } = await service.issueKey();
  const connection = await RawConnection.open(service.port);
  connection.write(inChunks(50_000, how === 'with a key' ? [`X-API-Key: ${key}`] : []));
  const refusal = await connection.answer();
  expect(refusal.status).toBe(status);
  expect(JSON.parse(refusal.text)).toMatchObject({ code });
  // How much Node had parsed before the refusal depends on its version.
  const more = setInterval(() => connection.write(CHUNK.repeat(2_000)));
  await connection.closed().finally(() => clearInterval(more));
});
