import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { type ErrorDefinition, defineError, errorCatalogue } from '#libs/http';
import { openapiDocument } from '../../../../src/cli/openapi-document';
import { API_VERSION } from '../../../../src/program';
import { type Operation, operationsOf } from '../../../support/document';
import { filesOf, read } from '../../../support/files';

/** The default address of the service. */
const LOCAL = 'http://127.0.0.1:3000';

const LIMIT_HEADERS =
  'X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset RateLimit-Policy RateLimit'.split(' ');

const json = ({ content }: { content?: Operation['responses'][string]['content'] }) =>
  content?.['application/json'];

const committed = read('openapi.yaml');
const document = parse(committed) as OpenAPIObject;
const operations = operationsOf(document);

it('openapi.yaml is up to date (`npm run generate` updates it)', async () => {
  expect(committed).toBe(await openapiDocument('yaml'));
});

it('openapi.yaml means the same to YAML 1.1 parsers', () => {
  expect(parse(committed, { version: '1.1' })).toEqual(document);
});

it('is OpenAPI 3.0.3 at a URL that programs can use, and requires a key in either of two header fields', () => {
  const { openapi, info, security, servers, components } = document;
  expect([openapi, info.title, info.version]).toEqual(['3.0.3', 'Pet Store', API_VERSION]);
  expect(servers!.map(({ url, variables }) => [url, variables])).toEqual([[LOCAL, undefined]]);
  expect(info.contact!.url).toBe(`${LOCAL}/docs/guides/getting-started#help`);
  expect(security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  expect(components?.securitySchemes).toEqual({
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: `Your API key from the operator ([Getting started](${LOCAL}/docs/guides/getting-started)). This or \`bearer\` is enough.`,
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The same key as a bearer token. This or `apiKey` is enough.',
    },
  });
});

it('has the tags in their order; Pets and Store group others, without a description and without operations', () => {
  const tags = document.tags as { name: string; description?: string; 'x-parent'?: string }[];
  const paths = tags.map(({ name, 'x-parent': parent }) => [parent, name].filter(Boolean).join(' > '));
  expect(paths.join(', ')).toBe(
    'Pets, Pets > Animals, Pets > Categories, Store, Store > Orders, Store > Inventory, Events, Webhooks, Account',
  );
  const groups = tags.filter(({ name }) => ['Pets', 'Store'].includes(name));
  expect(groups).toEqual([{ name: 'Pets' }, { name: 'Store' }]);
});

it('has every tag with operations in a group of x-tagGroups, for tools that ignore parent tags', () => {
  const groups = (document as unknown as { 'x-tagGroups': { tags: string[] }[] })['x-tagGroups'];
  expect(groups).toEqual([
    { name: 'Pets', tags: ['Animals', 'Categories'] },
    { name: 'Store', tags: ['Orders', 'Inventory'] },
    { name: 'Notifications', tags: ['Events', 'Webhooks'] },
    { name: 'Access', tags: ['Account'] },
  ]);
  // The operations stand in the order of their tags.
  const used = [...operations].flatMap(([, { tags }]) => tags);
  expect([...new Set(used)]).toEqual(groups.flatMap(({ tags }) => tags));
});

it('has an Idempotency-Key for exactly the POST operations, as the SDK assumes', () => {
  const taking = [...operations].filter(([, { parameters }]) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  const posts = [...operations.keys()].filter((name) => name.startsWith('POST '));
  expect(taking.map(([name]) => name)).toEqual(posts);
});

/** Header fields of the answers with these statuses. */
const OWED = { 201: 'Location', 401: 'WWW-Authenticate', 429: 'Retry-After', 503: 'Retry-After' };

it('describes every failure with the Error schema, and every response with its header fields', () => {
  const always = '400 401 408 412 413 429 431 500 503'.split(' ');
  const error = { $ref: '#/components/schemas/Error' };
  for (const [name, { responses }] of operations) {
    expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(always)]);
    for (const [status, response] of Object.entries(responses)) {
      const isFailure = Number(status) >= 400;
      if (isFailure) expect([name, status, json(response)?.schema]).toEqual([name, status, error]);
      const owed = [...LIMIT_HEADERS, 'X-Request-Id', (OWED as Record<string, string>)[status] ?? []].flat();
      expect(Object.keys(response.headers ?? {})).toEqual(expect.arrayContaining(owed));
      expect(response.description.length).toBeGreaterThan(5);
    }
  }
});

it('The examples of header fields and all defaults are what their schemas allow', () => {
  const { components, paths } = document;
  const ajv = addFormats(new Ajv({ strict: false }));
  ['int32', 'int64'].forEach((format) => ajv.addFormat(format, true));
  const values: [schema: object, value: unknown][] = [];
  const collect = (part: unknown, name = ''): void => {
    if (typeof part !== 'object' || part === null) return;
    const { schema, example, ...other } = part as { schema?: object; example?: unknown; default?: unknown };
    if (schema && example !== undefined) values.push([schema, example]);
    if ('default' in other && name !== 'responses') values.push([part, other.default]);
    Object.entries(part).forEach(([key, value]) => collect(value, key));
  };
  collect({ components, paths });
  expect(values.length).toBeGreaterThan(20);
  expect(values.filter(([schema, value]) => !ajv.validate({ ...schema, components }, value))).toEqual([]);
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
  const schema = document.components!.schemas![name] as { required?: string[]; properties: object };
  expect((schema.required ?? []).toSorted()).toEqual(required.toSorted());
  expect(Object.keys(schema.properties).toSorted()).toEqual([...required, ...optional].toSorted());
});

it.each([
  ['Pet', ['status']],
  ['Order', ['id', 'petId', 'quantity', 'complete']],
])('Responses have no %s without its %j', (name, required) => {
  const { [`Stored${name}`]: stored, ...schemas } = document.components!.schemas!;
  expect(stored).toMatchObject({
    allOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'object', required }],
  });
  expect(JSON.stringify([document.paths, document.components!.responses, schemas])).not.toContain(
    `"#/components/schemas/${name}"`,
  );
});

it('allows no unknown field in a request body; a response may gain some', () => {
  const bodies = [...operations.values()].flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}),
  );
  const inRequests = new Set(
    bodies.map(({ schema }) => (schema as { $ref: string }).$ref.split('/').at(-1)!),
  );
  const schemas = Object.entries(document.components!.schemas!);
  const closed = schemas.filter(
    ([, schema]) => 'additionalProperties' in schema && !schema.additionalProperties,
  );
  expect(closed.map(([name]) => name).toSorted()).toEqual([...inRequests].toSorted());
});

/** Errors that no operation documents, because they are answered where there is no operation. */
const OUTSIDE_OF_OPERATIONS = ['404 route_not_found', '405 method_not_allowed'];

/** Codes whose message depends on the operation. */
const OF_THE_OPERATION = ['validation_failed', 'unsupported_media_type'];

const sorted = (pairs: Iterable<string>) => [...new Set(pairs)].sort();

describe('The error catalogue', () => {
  it('matches the codes in the document, except those returned outside of operations', () => {
    const documented = answers().flatMap(({ status, answer }) => {
      return Object.keys(json(answer)?.examples ?? {}).map((code) => `${status} ${code}`);
    });
    const defined = errorCatalogue().map(({ status, code }) => `${status} ${code}`);
    expect(sorted([...documented, ...OUTSIDE_OF_OPERATIONS])).toEqual(sorted(defined));
  });

  it('has each code once', () => {
    const again = { code: 'validation_failed', status: 400, when: 'Always.', message: '' };
    expect(() => defineError(again)).toThrow('The error code validation_failed is defined twice.');
  });

  it('is the list of codes that an Error object can have', () => {
    const { Error: schema } = document.components!.schemas as Record<
      string,
      { properties: { code: { 'x-extensible-enum': string[] } } }
    >;
    expect(schema!.properties.code['x-extensible-enum']).toEqual(errorCatalogue().map(({ code }) => code));
  });

  it('is described in the introduction if no operation documents it', () => {
    for (const [status, code] of OUTSIDE_OF_OPERATIONS.map((pair) => pair.split(' '))) {
      expect(document.info.description).toMatch(new RegExp(`${status}\\s+\`${code}\``));
    }
  });

  it('is documented correctly: when it occurs, and its message', () => {
    const byCode = new Map(errorCatalogue().map((definition) => [definition.code, definition]));
    for (const { status, answer } of answers()) {
      for (const [code, { value }] of Object.entries(json(answer)?.examples ?? {})) {
        const { when, example } = byCode.get(code)!;
        const message = OF_THE_OPERATION.includes(code) ? expect.any(String) : example;
        expect(value).toEqual({ code, message, status: Number(status) });
        expect(answer.description).toContain(`\`${code}\`: ${when}`);
      }
    }
  });

  test.each(errorCatalogue())('$code is asserted by a test', ({ code }: ErrorDefinition) => {
    const pattern = new RegExp(`['"\`]${code}['"\`]`);
    expect(specs.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).not.toEqual([]);
  });

  function answers() {
    return [...operations.values()].flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, answer]) => ({ status, answer })),
    );
  }
});

/** All test files except this one. */
const specs = filesOf('test', '.spec.ts')
  .filter((file) => !__filename.endsWith(file))
  .map((file) => ({ file, text: read(file) }));
