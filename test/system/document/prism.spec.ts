import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { parse, stringify } from 'yaml';
import { useService } from '../../support/use-service';
import { operationsOf } from '../../support/document';
import { type JudgedAnswer, Prism } from './support/prism';
import { tourOf } from './support/tour';

const COMMITTED = join(__dirname, '../../../openapi.yaml');

const service = useService();
const folder = mkdtempSync(join(tmpdir(), 'petstore-prism-'));
let prism: Prism;
let strict: Prism;

/** The document with promises in it that the service does not keep. */
function altered(): string {
  const document = parse(readFileSync(COMMITTED, 'utf8')) as OpenAPIObject;
  const { Category, InventoryItem } = document.components!.schemas as Record<
    string,
    { required: string[]; properties: Record<string, object> }
  >;
  Category!.required.push('colour');
  Object.assign(InventoryItem!.properties.quantity!, { maximum: 0 });
  Object.assign(document.components!.headers!['X-RateLimit-Limit']!, {
    schema: { type: 'integer', maximum: 5 },
  });
  const { get } = document.paths['/usage'] as { get: { responses: object } };
  get.responses = { 202: { description: 'Later.' } };
  const file = join(folder, 'altered.yaml');
  writeFileSync(file, stringify(document));
  return file;
}

beforeAll(async () => {
  [prism, strict] = await Promise.all([
    Prism.start(COMMITTED, service.url),
    Prism.start(altered(), service.url),
  ]);
});
afterAll(async () => {
  await Promise.all([prism?.stop(), strict?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

it('Prism reports nothing about any operation, its examples, its refusals and its limits', async () => {
  const seen = new Set<string>();
  const { key } = await service.issueKey();
  const keys = {
    full: key,
    reader: (await service.issueKey({ scopes: ['read'] })).key,
    poor: (await service.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 10 })).key,
  };
  const operations = operationsOf(service.document);
  let last: JudgedAnswer | undefined;
  for (const step of tourOf(operations, keys)) {
    const { operation, status, target, headers, body } = step(last);
    const [method] = operation.split(' ') as [string];
    last = await prism.send(method, target, { headers, body });
    expect([operation, target, last.status, last.violation]).toEqual([operation, target, status, undefined]);
    seen.add(operation);
  }
  expect([...seen].sort()).toEqual([...operations.keys()].sort());
});

it.each([
  ['a missing member', '/categories', 'colour'],
  ['a value out of its bounds', '/store/inventory', 'must be <= 0'],
  ['a header field out of its bounds', '/pets', 'must be <= 5'],
  ['an undocumented status', '/usage', 'Unable to match the returned status code'],
])('Prism would report %s', async (_what, target, complaint) => {
  const { key } = await service.issueKey();
  const headers = { 'X-API-Key': key };
  await prism.send('POST', '/categories', { headers, body: { name: 'Dogs' } });
  const { body } = await prism.send<{ id: number }[]>('GET', '/categories', { headers });
  await prism.send('POST', '/pets', { headers, body: { name: 'Rex', categoryId: body[0]!.id } });

  expect((await strict.send('GET', target, { headers })).violation).toContain(complaint);
});

it('Prism would reject a request that is not as documented', async () => {
  const headers = { 'X-API-Key': (await service.issueKey()).key };
  const { violation } = await prism.send('POST', '/categories', { headers, body: { name: 'Dogs', id: 1 } });
  expect(violation).toContain('must NOT have additional properties');
});
