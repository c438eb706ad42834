import { type TestService, startService } from '../../support/service';
import { type Operation, operationsOf, parametersOf, resolve, sortedKeys } from '../../support/document';

/** Comes with @nestjs/swagger, which writes the YAML with it; it brings no types. */
const { load } = jest.requireActual<{ load(text: string): unknown }>('js-yaml');

/** Where it is unless somebody says otherwise. */
const LOCAL = 'http://127.0.0.1:3000';

let service: TestService;
let operations: [string, Operation][];

beforeAll(async () => {
  service = await startService();
  operations = [...operationsOf(service.document)];
});
afterAll(() => service.close());

const LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

it('is OpenAPI 3.0.3, and describes version 1.0.0', () => {
  expect(service.document.openapi).toBe('3.0.3');
  expect(service.document.info).toMatchObject({ title: 'Pet Store', version: '1.0.0' });
});

it('has the tags in their order; Pets and Store group others, without a description and without operations', () => {
  const tags = service.document.tags as { name: string; description?: string; 'x-parent'?: string }[];
  expect(tags.map(({ name, 'x-parent': parent }) => [name, parent])).toEqual([
    ['Pets', undefined],
    ['Animals', 'Pets'],
    ['Categories', 'Pets'],
    ['Store', undefined],
    ['Orders', 'Store'],
    ['Inventory', 'Store'],
    ['Events', undefined],
    ['Account', undefined],
  ]);
  expect(tags.filter(({ name }) => ['Pets', 'Store'].includes(name))).toEqual([
    { name: 'Pets' },
    { name: 'Store' },
  ]);
  const used = new Set(operations.flatMap(([, { tags: names }]) => names));
  expect([...used].sort()).toEqual(['Account', 'Animals', 'Categories', 'Events', 'Inventory', 'Orders']);
});

it('describes the same groups with x-tagGroups, for tools that ignore parent tags', () => {
  expect((service.document as unknown as Record<string, unknown>)['x-tagGroups']).toEqual([
    { name: 'Pets', tags: ['Animals', 'Categories'] },
    { name: 'Store', tags: ['Orders', 'Inventory'] },
    { name: 'Events', tags: ['Events'] },
    { name: 'Account', tags: ['Account'] },
  ]);
});

it('names a server URL that programs can use, and a contact for help', async () => {
  const [address, here] = service.document.servers!;
  expect(address).toMatchObject({ url: '{address}', variables: { address: { default: LOCAL } } });
  expect(here).toMatchObject({ url: '/' });
  expect(service.document.info.contact!.url).toBe(`${LOCAL}/docs/guides/getting-started#help`);
  const settings = { publicUrl: 'https://api.shop.example/', contactUrl: 'https://shop.example/help' };
  const own = await startService({ settings });
  expect(own.document.servers![0]!.variables!.address!.default).toBe('https://api.shop.example');
  expect(own.document.info.contact!.url).toBe('https://shop.example/help');
  await own.close();
});

it('requires a key at its root as well', () => {
  expect(service.document.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
});

it('knows two ways to send a key, and neither is a query parameter', () => {
  expect(service.document.components?.securitySchemes).toEqual({
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
    bearer: { type: 'http', scheme: 'bearer', description: 'Your API key.' },
  });
});

it('uses each operationId once', () => {
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

it('has no dangling reference and no unused component', () => {
  const references = [...new Set(JSON.stringify(service.document).match(/"#\/[^"]+"/g))].map((text) =>
    text.slice(1, -1),
  );
  expect(references.filter((reference) => resolve(service.document, reference) === undefined)).toEqual([]);
  for (const kind of ['schemas', 'headers', 'parameters', 'responses'] as const) {
    const defined = sortedKeys(service.document.components?.[kind]).map(
      (name) => `#/components/${kind}/${name}`,
    );
    expect(defined.filter((name) => !references.includes(name))).toEqual([]);
  }
});

it('describes every failure with the Error schema and its header fields', () => {
  for (const [name, { responses }] of operations) {
    for (const [status, { content, headers, description }] of Object.entries(responses)) {
      const failed = Number(status) >= 400;
      const schema = content?.['application/json']?.schema;
      expect([name, status, schema]).toEqual([
        name,
        status,
        failed ? { $ref: '#/components/schemas/Error' } : schema,
      ]);
      expect(Object.keys(headers ?? {})).toEqual(expect.arrayContaining([...LIMIT_HEADERS, 'X-Request-Id']));
      expect(description.length).toBeGreaterThan(5);
      const owed: Record<string, string> = {
        429: 'Retry-After',
        503: 'Retry-After',
        401: 'WWW-Authenticate',
        201: 'Location',
      };
      expect(Object.keys(headers ?? {})).toEqual(expect.arrayContaining([owed[status]].filter(Boolean)));
    }
  }
});

it('describes Deprecation, Sunset and Link on every response of the deprecated operation', () => {
  const { responses } = operations.find(([name]) => name === 'GET /pets/{petId}')![1];
  for (const { headers } of Object.values(responses)) {
    expect(Object.keys(headers!)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']));
  }
});

it('declares exactly the parameters of each path, all required', () => {
  for (const [name, operation] of operations) {
    const inPath = parametersOf(service.document, operation).filter(({ in: place }) => place === 'path');
    expect(inPath.map((parameter) => parameter.name)).toEqual(
      [...name.matchAll(/\{(\w+)\}/g)].map(([, id]) => id),
    );
    expect(inPath.every(({ required }) => required)).toBe(true);
  }
});

it('is the same in YAML as in JSON', async () => {
  const yaml = await (await fetch(`${service.url}/openapi.yaml`)).text();
  expect(load(yaml)).toEqual(service.document);
});
