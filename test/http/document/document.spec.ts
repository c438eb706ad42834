import { startService } from '../../support/service';
import { useService } from '../../support/use-service';
import { type Operation, operationsOf, sortedKeys } from '../../support/document';

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

it('is OpenAPI 3.0.3, describes version 1.0.0, and requires a key', () => {
  const { openapi, info, security } = service.document;
  expect([openapi, info.title, info.version]).toEqual(['3.0.3', 'Pet Store', '1.0.0']);
  expect(security).toEqual([{ apiKey: [] }, { bearer: [] }]);
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

it('knows two ways to send a key, and neither is a query parameter', () => {
  expect(service.document.components?.securitySchemes).toEqual({
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
    bearer: { type: 'http', scheme: 'bearer', description: 'Your API key.' },
  });
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

/** The tables of the specification ("Resources and their fields"): required fields and optional ones. */
const SCHEMAS: [name: string, required: string[], optional: string[]][] = [
  ['NewPet', ['name', 'categoryId'], ['status']],
  ['Pet', ['name', 'categoryId', 'id'], ['status']],
  ['NewCategory', ['name'], ['description']],
  ['Category', ['name', 'id'], ['description']],
  ['Order', [], ['id', 'petId', 'quantity', 'shipDate', 'complete']],
  ['InventoryItem', ['petId', 'quantity', 'status'], []],
  ['InventoryUpdate', ['quantity'], []],
  ['Error', ['code', 'message', 'status'], []],
];

it.each(SCHEMAS)('%s has the fields of the specification', (name, required, optional) => {
  const schema = service.document.components!.schemas![name] as { required?: string[]; properties: object };
  expect((schema.required ?? []).toSorted()).toEqual(required.toSorted());
  expect(sortedKeys(schema.properties)).toEqual([...required, ...optional].toSorted());
});

it('allows no unknown field in a request body; a response may gain some', () => {
  const bodies = [...operations.values()].flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}),
  );
  const inRequests = new Set(
    bodies.map(({ schema }) => (schema as { $ref: string }).$ref.split('/').at(-1)!),
  );
  const schemas = Object.entries(service.document.components!.schemas!);
  const closed = schemas.filter(
    ([, schema]) => 'additionalProperties' in schema && !schema.additionalProperties,
  );
  expect(closed.map(([name]) => name).toSorted()).toEqual([...inRequests].toSorted());
});
