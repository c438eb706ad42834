import type { ApiClient, ErrorBody } from '../../support/api-client';
import { operationsOf } from '../../support/document';
import { useService } from '../../support/use-service';

const service = useService();
let reader: ApiClient;
let writer: ApiClient;

beforeAll(async () => {
  reader = await service.caller({ scopes: ['read'] });
  writer = await service.caller({ scopes: ['write'] });
});

/** Every operation of the served document. */
function operations(): [string, string][] {
  return [...operationsOf(service.document).keys()].map(
    (name) => name.replace(/\{\w+\}/g, '4711').split(' ') as [string, string],
  );
}

/** What any valid key may call. */
const ANY_KEY = ['/key', '/rate-limit'];

function challengeFor(scope: string): string {
  return `Bearer realm="petstore", error="insufficient_scope", scope="${scope}"`;
}

async function isRefused(caller: ApiClient, method: string, path: string, scope: string): Promise<boolean> {
  const answer = await caller.send<ErrorBody>(method, path);
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status !== 403) return false;
  if (method !== 'HEAD') expect(answer.body.code).toBe('insufficient_scope');
  expect(challenge).toBe(challengeFor(scope));
  return true;
}

it('every GET except getKey and getRateLimit needs read, every other operation needs write, and neither implies the other', async () => {
  const found: string[] = [];
  for (const [method, path] of operations().filter(([, called]) => !ANY_KEY.includes(called))) {
    const needs = method === 'GET' ? 'read' : 'write';
    const [without, withIt] = needs === 'read' ? [writer, reader] : [reader, writer];
    expect(`${method} ${path} ${await isRefused(without, method, path, needs)}`).toBe(
      `${method} ${path} true`,
    );
    expect(`${method} ${path} ${await isRefused(withIt, method, path, needs)}`).toBe(
      `${method} ${path} false`,
    );
    found.push(needs);
  }
  expect(found).toEqual(expect.arrayContaining(['read', 'write']));
  expect(found).toHaveLength(operations().length - ANY_KEY.length);
});

it.each(ANY_KEY)('GET and HEAD of %s need no scope', async (path) => {
  for (const caller of [reader, writer]) {
    expect((await caller.get(path)).status).toBe(200);
    expect((await caller.send('HEAD', path)).status).toBe(200);
  }
});

it('HEAD needs read, like GET', async () => {
  expect(await isRefused(writer, 'HEAD', '/pets', 'read')).toBe(true);
  expect((await reader.send('HEAD', '/pets')).status).toBe(200);
});

it('a key without the scope is refused before the response reveals anything about the resource', async () => {
  for (const body of ['{', {}, { name: 'Rex', categoryId: 4711 }]) {
    expect((await reader.post('/pets', body)).status).toBe(403);
  }
  expect((await writer.get('/pets?nothing=1')).status).toBe(403);
});

it('a key has both scopes by default, and both allow every operation', async () => {
  const caller = await service.caller();
  for (const [method, path] of operations()) {
    expect([401, 403]).not.toContain((await caller.send(method, path)).status);
  }
});
