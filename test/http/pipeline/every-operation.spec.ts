import type { ErrorBody } from '../../support/api-client';
import { Arrange } from '../../support/builders';
import { operationsOf } from '../../support/document';
import { useStore } from '../../support/use-service';

/** Every operation with a body that it takes, and what it answers to that once nothing is wrong. */
const OPERATIONS: [method: string, path: string, status: number, body?: object][] = [
  ['GET', '/pets', 200],
  ['POST', '/pets', 201, { name: 'Rex', categoryId: 1 }],
  ['GET', '/pets/1', 200],
  ['PUT', '/pets/1', 200, { name: 'Rex', categoryId: 1 }],
  ['PATCH', '/pets/1', 200, { name: 'Rex' }],
  ['GET', '/categories', 200],
  ['POST', '/categories', 201, { name: 'Dogs' }],
  ['GET', '/categories/1', 200],
  ['PUT', '/categories/1', 200, { name: 'Dogs' }],
  ['GET', '/store/orders', 200],
  ['POST', '/store/orders', 201, { petId: 1 }],
  ['GET', '/store/orders/1', 200],
  ['PATCH', '/store/orders/1', 200, {}],
  ['GET', '/store/inventory', 200],
  ['GET', '/store/inventory/1', 200],
  ['PUT', '/store/inventory/1', 200, { quantity: 5 }],
  ['POST', '/store/inventory/1/adjustments', 200, { delta: 1 }],
  ['GET', '/events', 200],
  ['GET', '/webhooks', 200],
  ['POST', '/webhooks', 201, { url: 'https://example.com/hook' }],
  ['GET', '/webhooks/1', 200],
  ['PATCH', '/webhooks/1', 200, {}],
  ['POST', '/webhooks/1/secret', 200, {}],
  ['POST', '/webhooks/1/test', 202],
  ['GET', '/webhooks/1/deliveries', 200],
  ['POST', '/webhooks/1/deliveries/1/retry', 202],
  ['GET', '/key', 200],
  ['GET', '/rate-limit', 200],
  ['GET', '/usage', 200],
  ['DELETE', '/store/orders/1', 204],
  ['DELETE', '/pets/2', 204],
  ['DELETE', '/categories/2', 204],
  ['DELETE', '/webhooks/1', 204],
];

const ID_RANGE = 'must be an integer from 1 to 9007199254740991.';
const UNKNOWN_QUERIES = ['colour=red', '__proto__=x', 'toString', 'Limit=1', '%00=1', '=', 'id[]=1'];
const BAD_LIMITS = ['0', '101', '-1', '1.5', '1e1', '05', '', 'x', '1&limit=2', '9007199254740993'];
const BAD_CURSORS = ['', '20', 'YWZ0ZXI6MA', 'YWZ0ZXI6MjAg', '%F0%9F%90%95', 'a'.repeat(5_000)];
const FOREIGN = 'application/json-patch+json';

/** What a request of the operation is turned into, with the error that it then gets. */
interface Defect {
  what: string;
  status: number;
  code: string;
  target?: string;
  body?: unknown;
  fields?: Record<string, string>;
  message?: string;
}

describe('every operation', () => {
  const { service, caller } = useStore();

  beforeAll(async () => {
    const arrange = new Arrange(caller);
    await arrange.pet();
    await arrange.pet();
  });

  /** The defects that the operation can have, in any order. */
  function defectsOf(method: string, path: string, body?: object): Defect[] {
    const name = nameOf(method, path);
    const [template, { parameters, responses, requestBody }] = [...operationsOf(service.document)].find(
      ([documented]) => shapeOf(documented) === name,
    )!;
    const invalid = { status: 400, code: 'validation_failed' };
    const types = Object.keys(requestBody?.content ?? {});
    const [, parameter] = /\{(\w+)\}/.exec(template) ?? [];
    const isList = parameters.some(({ name }) => name === 'limit');
    const at = (id: string) => path.replace(/\d+/, id);
    const changes = '412' in responses;
    return [
      ...UNKNOWN_QUERIES.slice(0, path === '/pets' ? undefined : 2).map((query) => ({
        ...{ ...invalid, what: query, target: `${path}?${query}` },
      })),
      ...(parameter === undefined ? [] : ['0', '9007199254740992', 'x']).map((id) => ({
        ...{ ...invalid, what: 'id', target: at(id), message: `${parameter} ${ID_RANGE}` },
      })),
      ...(isList ? BAD_LIMITS : []).map((limit) => ({
        ...{ ...invalid, what: 'limit', target: `${path}?limit=${limit}`, message: 'limit must be' },
      })),
      ...(isList ? BAD_CURSORS : []).map((cursor) => ({
        ...{ what: 'cursor', status: 400, code: 'invalid_cursor', target: `${path}?cursor=${cursor}` },
      })),
      ...(body === undefined
        ? method === 'GET'
          ? []
          : [{ ...invalid, what: 'body', body: {}, message: 'takes no body' }]
        : [
            { ...invalid, what: 'unknown field', body: { ...body, colour: 'red' }, message: '"colour"' },
            { ...invalid, what: 'id in the body', body: { ...body, id: 1 }, message: '"id"' },
            {
              ...{ what: 'media type', status: 415, code: 'unsupported_media_type' },
              ...{ fields: { 'Content-Type': FOREIGN }, message: `sent as ${types.join(' or ')}, in UTF-8` },
            },
          ]),
      ...('404' in responses
        ? [{ what: 'unknown id', status: 404, code: codeOf(path), target: at('4711') }]
        : []),
      ...(changes
        ? [{ what: 'ETag', status: 412, code: 'precondition_failed', fields: { 'If-Match': '"stale"' } }]
        : []),
    ];
  }

  async function aDelivery(): Promise<number> {
    const { body } = await caller.get<[{ id: number }]>('/webhooks/1/deliveries');
    return body[0].id;
  }

  it('of the document is in the table', () => {
    const documented = [...operationsOf(service.document).keys()].map(shapeOf);
    expect(OPERATIONS.map(([method, path]) => nameOf(method, path)).sort()).toEqual(documented.sort());
  });

  // In the order of the table: what one operation creates, a later one reads or deletes.
  it('refuses what is wrong, and has then done nothing', async () => {
    for (const [method, path, status, body] of OPERATIONS) {
      const operation = `${method} ${path}`;
      const anonymous = await service.anonymous().send<ErrorBody>(method, path, body);
      expect([operation, anonymous.status, anonymous.body.code]).toEqual([operation, 401, 'missing_api_key']);
      for (const { what, message = '', fields = {}, ...defect } of defectsOf(method, path, body)) {
        const answer = await caller
          .with(fields)
          .send<ErrorBody>(method, defect.target ?? path, defect.body ?? body);
        const seen = [operation, what, answer.status, answer.body.code];
        expect(seen).toEqual([operation, what, defect.status, defect.code]);
        expect(answer.body.message).toContain(message);
      }
      const target = path.endsWith('/retry') ? `/webhooks/1/deliveries/${await aDelivery()}/retry` : path;
      expect([operation, (await caller.send(method, target, body)).status]).toEqual([operation, status]);
    }
  });
});

function nameOf(method: string, path: string): string {
  return `${method} ${path.replace(/\d+/g, '#')}`;
}

function shapeOf(template: string): string {
  return template.replace(/\{\w+\}/g, '#');
}

function codeOf(path: string): string {
  const [, collection] = /^\/(?:store\/)?(\w+)/.exec(path)!;
  const codes: Record<string, string> = { categories: 'category', orders: 'order', webhooks: 'webhook' };
  return `${codes[collection!] ?? 'pet'}_not_found`;
}
