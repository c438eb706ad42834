import { InterceptorsConsumer } from '@nestjs/core/interceptors';
import { Arrange } from '../../support/builders';
import { type Operation, operationsOf } from '../../support/document';
import { RawConnection } from '../../support/raw-http';
import { type TestService, startService } from '../../support/service';

const shipped = InterceptorsConsumer.prototype.intercept;

interface Request {
  method: string;
  path: string;
  body?: string | undefined;
  fields?: Record<string, string>;
}

function requestOf([name, operation]: [string, Operation]): Request {
  const [method, template] = name.split(' ') as [string, string];
  const [example] = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
  const path = template.replace(/\{\w+\}/g, method === 'DELETE' ? '2' : '1');
  return { method, path, body: example && JSON.stringify(example.value) };
}

function requestsTo({ document }: TestService): Request[] {
  const deletesLast = ({ method }: Request) => (method === 'DELETE' ? 1 : 0);
  const all = [...operationsOf(document)].map(requestOf).sort((a, b) => deletesLast(a) - deletesLast(b));
  return all.flatMap((request) => {
    const { method, path, body } = request;
    return [
      { ...request, fields: { 'X-API-Key': 'none' } },
      { ...request, path: path.replace(/\d+$/, '4711') },
      { ...request, path: `${path}?colour=red` },
      ...(body === undefined
        ? []
        : [
            { ...request, body: '{"name":' },
            { ...request, body: '{"x":1}' },
          ]),
      { ...request, fields: { 'If-Match': '"another"' } },
      ...(method === 'POST' ? [request] : []).map((post) => ({
        ...post,
        fields: { 'Idempotency-Key': path },
      })),
      { ...request, fields: method === 'POST' ? { 'Idempotency-Key': path } : {} },
      { ...request, fields: { 'If-None-Match': '*' } },
      { method: method === 'GET' ? 'HEAD' : 'TRACE', path },
    ];
  });
}

/** What differs between two stores, whoever calls interceptors: times, random ids, and the tags of what has them. */
function comparable(text: string): string {
  const times = text.replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z|evt_\w+|whsec_[\w+/=-]+|"endsWith":"\w+"/g, '…');
  return (times === text ? text : times.replace(/^etag: .*$/m, 'etag: …'))
    .replace(/^(x-request-id|date): .*$/gm, '$1: …')
    .replace(/cursor=[\w-]+|client-\d|requestId":"[^"]*|[0-9a-f]{8}-[0-9a-f-]{27}/g, '…');
}

async function responses(intercept?: typeof shipped): Promise<string[]> {
  const service = await startService();
  Object.assign(InterceptorsConsumer.prototype, intercept && { intercept });
  const { key } = await service.issueKey();
  const arrange = new Arrange(service.callerWith(key));
  for (let count = 0; count < 2; count += 1) {
    await arrange.order((await arrange.pet(undefined, 5)).id);
  }
  const dropped = await RawConnection.open(service.port);
  dropped.write(`GET /pets HTTP/1.1\r\nHost: store\r\nX-API-Key: ${(await service.issueKey()).key}\r\n\r\n`);
  dropped.close();
  const found: string[] = [];
  for (const { method, path, body = '', fields } of requestsTo(service)) {
    const connection = await RawConnection.open(service.port);
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const ofBody = body === '' ? {} : { 'Content-Type': type, 'Content-Length': body.length };
    const sent = { Host: 'store', 'X-API-Key': key, Connection: 'close', ...fields, ...ofBody };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    const answer = await connection.answer({ method });
    const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
    found.push(comparable([`${method} ${path} ${answer.status}`, ...headers, answer.text].join('\n')));
    connection.close();
  }
  await service.close();
  return found;
}

test('responses have the same bytes as with interceptors called by Nest as it is shipped', async () => {
  const direct = await responses();
  expect(InterceptorsConsumer.prototype.intercept).not.toBe(shipped);
  expect(new Set(direct.map((text) => /^\S+ \S+ (\d+)/.exec(text)![1])).size).toBeGreaterThan(8);
  expect(await responses(shipped)).toEqual(direct);
});
