import { startService } from '../../support/service';
import { useService } from '../../support/use-service';
import { TABLE } from './support/operations-table';
import { type Operation, operationsOf, parametersOf, resolve, sortedKeys } from '../../support/document';

/** Comes with @nestjs/swagger, which writes the YAML with it; it brings no types. */
const { load } = jest.requireActual<{ load(text: string): unknown }>('js-yaml');

/** Where it is unless somebody says otherwise. */
const LOCAL = 'http://127.0.0.1:3000';

const service = useService();
let operations: Map<string, Operation>;

beforeAll(() => {
  operations = operationsOf(service.document);
});

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
  const used = new Set([...operations].flatMap(([, { tags: names }]) => names));
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
  const ids = [...operations].map(([, { operationId }]) => operationId);
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
  const { responses } = operations.get('GET /pets/{petId}')!;
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

/** Statuses that every operation can answer. */
const ALWAYS = [400, 401, 403, 408, 429, 431, 500, 503];

it('describes exactly the operations of the table', () => {
  expect([...operations.keys()].sort()).toEqual(TABLE.map(({ operation }) => operation).sort());
});

test.each(TABLE)('$operation is described as in the table, and nothing else', (row) => {
  const { operation: name, id, tag, answers, others, body, bodyIsOptional, markers = {} } = row;
  const operation = operations.get(name)!;
  const { summary, description, security, responses, requestBody } = operation;
  expect([operation.operationId, operation.tags]).toEqual([id, [tag]]);
  expect([summary, description]).toEqual([
    expect.stringMatching(/^[A-Z].+[^.]$/),
    expect.stringMatching(/\.$/),
  ]);
  expect(security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  const marks = Object.entries(operation).filter(([key]) => key === 'deprecated' || key.startsWith('x-'));
  expect(Object.fromEntries(marks)).toEqual(markers);

  const [status, schema] = answers;
  const statuses = new Set([...ALWAYS, ...others, status].map(String));
  // Any valid key may ask for its limits, whatever its scopes, and a banned one too.
  if (name === 'GET /rate-limit') statuses.delete('403');
  expect(sortedKeys(responses)).toEqual([...statuses].sort());
  const ref = (named: string) => ({ $ref: `#/components/schemas/${named}` });
  const items = { type: 'array', items: ref(schema.replace('[]', '')), maxItems: 100 };
  const expected = schema.endsWith('[]') ? items : schema === '' ? undefined : ref(schema);
  expect(responses[status]!.content?.['application/json']?.schema).toEqual(expected);

  const patch = name.startsWith('PATCH') ? ['application/merge-patch+json'] : [];
  const taken = Object.entries(requestBody?.content ?? {}).map(([type, part]) => [type, part.schema]);
  const types = ['application/json', ...patch].map((type) => [type, ref(body ?? '')]);
  expect([requestBody?.required, taken]).toEqual(body ? [!bodyIsOptional, types] : [undefined, []]);
});
