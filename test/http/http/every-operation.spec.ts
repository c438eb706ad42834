import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { routeConfigOf } from '#libs/http';
import { ClientsService } from '../../../src/modules/auth';
import type { ApiCaller, ErrorBody } from '../../support/api-caller';
import { Arrange } from '../../support/builders';
import { operationsOf, plain } from '../../support/document';
import { useService } from '../../support/use-service';

/** A request that succeeds, with the parts of it that can be wrong. */
interface Sample {
  method: string;
  /** The path, with the id of a resource that `beforeAll` creates. */
  path: string;
  status: number;
  /** The query parameters of a GET, or else the fields of the body. An asterisk marks a required one. */
  names: string[];
  /** The code of the error if the path has an unknown id; empty if the path has no id. */
  unknown: string;
  body?: object;
}

const PET = 'pet_not_found';
const CATEGORY = 'category_not_found';
const ORDER = 'order_not_found';
const WEBHOOK = 'webhook_not_found';
const URL = 'https://shop.example/events';
const PAGE = 'limit cursor';

function sample(call: string, status: number, names = '', unknown = '', body?: object): Sample {
  const [method, path] = call.split(' ') as [string, string];
  return { method, path, status, names: names.split(' ').filter(Boolean), unknown, body };
}

/** This list is written by hand, so that a test fails if a decorator no longer declares an operation. */
const OPERATIONS: Record<string, Sample> = {
  getKey: sample('GET /key', 200),
  getRateLimit: sample('GET /rate-limit', 200),
  getUsage: sample('GET /usage', 200, 'days'),
  listCategories: sample('GET /categories', 200, `${PAGE} name`),
  createCategory: sample('POST /categories', 201, 'name* description', '', { name: 'Dogs' }),
  getCategory: sample('GET /categories/1', 200, '', CATEGORY),
  replaceCategory: sample('PUT /categories/1', 200, 'name* description', CATEGORY, { name: 'Dogs' }),
  deleteCategory: sample('DELETE /categories/2', 204, '', CATEGORY),
  listPets: sample('GET /pets', 200, `${PAGE} status categoryId name id`),
  createPet: sample('POST /pets', 201, 'name* categoryId* status', '', { name: 'Rex', categoryId: 1 }),
  getPet: sample('GET /pets/1', 200, '', PET),
  replacePet: sample('PUT /pets/1', 200, 'name* categoryId* status', PET, { name: 'Rex', categoryId: 1 }),
  updatePet: sample('PATCH /pets/1', 200, 'name categoryId status', PET, {}),
  deletePet: sample('DELETE /pets/2', 204, '', PET),
  listInventory: sample('GET /store/inventory', 200, `${PAGE} status`),
  getInventory: sample('GET /store/inventory/1', 200, '', PET),
  setInventory: sample('PUT /store/inventory/1', 200, 'quantity*', PET, { quantity: 9 }),
  adjustInventory: sample('POST /store/inventory/1/adjustments', 200, 'delta*', PET, { delta: -2 }),
  listOrders: sample('GET /store/orders', 200, `${PAGE} petId complete`),
  placeOrder: sample('POST /store/orders', 201, 'petId* quantity shipDate complete', '', { petId: 1 }),
  getOrder: sample('GET /store/orders/1', 200, '', ORDER),
  updateOrder: sample('PATCH /store/orders/1', 200, 'shipDate complete', ORDER, {}),
  cancelOrder: sample('DELETE /store/orders/2', 204, '', ORDER),
  listEvents: sample('GET /events', 200, `${PAGE} type petId wait`),
  listWebhooks: sample('GET /webhooks', 200, PAGE),
  createWebhook: sample('POST /webhooks', 201, 'url* description types enabled', '', { url: URL }),
  getWebhook: sample('GET /webhooks/1', 200, '', WEBHOOK),
  updateWebhook: sample('PATCH /webhooks/1', 200, 'url description types enabled', WEBHOOK, {}),
  deleteWebhook: sample('DELETE /webhooks/2', 204, '', WEBHOOK),
  rotateWebhookSecret: sample('POST /webhooks/1/secret', 200, '', WEBHOOK),
  testWebhook: sample('POST /webhooks/1/test', 202, '', WEBHOOK),
  listDeliveries: sample('GET /webhooks/1/deliveries', 200, `${PAGE} status`, WEBHOOK),
  retryDelivery: sample('POST /webhooks/1/deliveries/1/retry', 202, '', WEBHOOK),
};
/** Operations that any valid key may call, whatever its scopes are. */
const FOR_ANY_KEY = ['getKey', 'getRateLimit'];

interface FieldSchema {
  type?: string;
  enum?: unknown[];
  example?: unknown;
}

/** A valid value of a field that differs from its present one, as far as the schema allows. */
function otherThan(present: unknown, { type, enum: values, example }: FieldSchema): unknown {
  return type === 'boolean' ? !present : (values?.find((value) => value !== present) ?? example);
}

const UNKNOWN_QUERIES = ['colour=red', '__proto__=x', 'toString', 'Limit=1', '%00=1', '=', 'id[]=1'];
const BAD_CURSORS = ['', '20', 'YWZ0ZXI6MjAg', '%F0%9F%90%95', 'a'.repeat(5_000)];
const ID_RANGE = 'must be an integer from 1 to 9007199254740991.';

/** A change that makes the request of a sample wrong, with the error that follows. */
interface Defect {
  what: string;
  target?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** By default, the status is 400 and the code is `validation_failed`. */
  status?: number;
  code?: string;
  message?: string;
}

function defectsOf(sample: Sample): Defect[] {
  const { method, path, names, unknown } = sample;
  const parameters = method === 'GET' ? names : [];
  const at = (id: string): string => path.replace(/\d+/, id);
  const queries = UNKNOWN_QUERIES.slice(0, path === '/pets' ? undefined : 2);
  const ids = unknown === '' ? [] : ['0', '9007199254740992', 'x'];
  const cursors = parameters.includes('cursor') ? BAD_CURSORS : [];
  const others = parameters.filter((name) => name !== 'cursor');
  // prettier-ignore
  return [
    ...queries.map((text) => ({ what: text, target: `${path}?${text}` })),
    ...ids.map((id) => ({ what: `id ${id}`, target: at(id), message: `Id ${ID_RANGE}` })),
    ...(unknown === '' ? [] : [{ what: 'unknown id', target: at('4711'), status: 404, code: unknown }]),
    ...others.map((name) => ({ what: name, target: `${path}?${name}=`, message: `${name} must be` })),
    ...cursors.map((text) => ({ what: 'cursor', target: `${path}?cursor=${text}`, status: 400, code: 'invalid_cursor' })),
    ...(method === 'GET' ? [] : bodyDefectsOf(sample)),
    { what: 'ETag', headers: { 'If-Match': '"stale"' }, status: 412, code: 'precondition_failed' },
  ];
}

function bodyDefectsOf({ method, body, names }: Sample): Defect[] {
  if (body === undefined) {
    return [{ what: 'body', body: {}, message: 'takes no body' }];
  }
  const fields = names.map((name) => name.replace('*', ''));
  const required = fields.filter((name) => names.includes(`${name}*`));
  const types = method === 'PATCH' ? 'application/json or application/merge-patch+json' : 'application/json';
  const headers = { 'Content-Type': 'application/json-patch+json' };
  const message = `Content-Type must be ${types}`;
  // prettier-ignore
  return [
    ...fields.map((name) => ({ what: name, body: { ...body, [name]: {} }, message: `${name} must be` })),
    ...required.map((name) => ({ what: `no ${name}`, body: { ...body, [name]: undefined }, message: `${name} is required` })),
    { what: 'unknown field', body: { ...body, colour: 'red' }, message: '"colour"' },
    { what: 'id in the body', body: { ...body, id: 1 }, message: '"id"' },
    { what: 'media type', headers, status: 415, code: 'unsupported_media_type', message },
  ];
}

/** All routes of these controllers, each with the access rule that its handler declares (src/modules/auth/access-rules.ts). */
function routesOf(controllers: Type<unknown>[]): { name: string; rule: unknown }[] {
  return controllers.flatMap((controller) =>
    Object.entries(Object.getOwnPropertyDescriptors(controller.prototype))
      .filter(
        ([key, { value }]) => key !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, value as object),
      )
      .map(([key, { value }]) => ({
        name: `${controller.name}.${key}`,
        rule: routeConfigOf(value as object)?.access,
      })),
  );
}

const service = useService();
/** `caller` has a key with both scopes, and the other two have keys of the same client with one scope each. */
let caller: ApiCaller;
let reader: ApiCaller;
let writer: ApiCaller;

/** Creates two of each resource. The samples read and change the first one, and delete the second one. */
beforeAll(async () => {
  const { key, client } = await service.issueKey();
  const only = async (scope: 'read' | 'write') =>
    service.callerWith((await service.app.get(ClientsService).issueKey({ client, scopes: [scope] })).key);
  [caller, reader, writer] = [service.callerWith(key), await only('read'), await only('write')];
  const arrange = new Arrange(caller);
  await arrange.pet(undefined, 9);
  await caller.post('/categories', { name: 'Cats' });
  await caller.post('/pets', { name: 'Max', categoryId: 1 });
  await arrange.order(1);
  await arrange.order(1);
  await caller.post('/webhooks', { url: URL, types: ['pet.deleted'] });
  await caller.post('/webhooks', { url: URL, enabled: false });
  await caller.post('/webhooks/1/test');
});

/** The position of the newest event. If two results are equal, nothing was changed in between. */
async function lastEvent(): Promise<unknown> {
  const { rows } = await service.database.pool.query('SELECT max(position) FROM events');
  return rows[0];
}

it('Every operation is listed here, and declares who may call it; only health checks are public', () => {
  const declared = [...operationsOf(service.document).values()].map(({ operationId }) => operationId);
  expect(declared.sort()).toEqual(Object.keys(OPERATIONS).sort());
  const modules = [...service.app.get(ModulesContainer).values()];
  const controllers = modules.flatMap((module) => [...module.controllers.values()]);
  const routes = routesOf(controllers.map(({ metatype }) => metatype as Type<unknown>));
  const named = (wanted: unknown) => routes.filter(({ rule }) => rule === wanted).map(({ name }) => name);
  expect(routes).toHaveLength(declared.length + 2);
  expect(named(undefined)).toEqual([]);
  expect(named('public').sort()).toEqual(['HealthController.live', 'HealthController.ready']);
});

/** The fields of the request body by name, and the names of the required ones. */
function bodyOf(operation: string): { properties: Record<string, FieldSchema>; required: string[] } {
  const declared = [...operationsOf(service.document).values()].find((one) => one.operationId === operation);
  const schema = declared!.requestBody?.content['application/json']?.schema ?? {};
  const { properties = {}, required = [] } = plain(service.document, schema);
  return { properties: properties as Record<string, FieldSchema>, required };
}

it.each(Object.entries(OPERATIONS).filter(([, { method }]) => method !== 'GET'))(
  '%s has these fields, and its sample the required ones alone',
  (operation, { names, body = {} }) => {
    const { properties, required } = bodyOf(operation);
    const fields = Object.keys(properties).map((name) => (required.includes(name) ? `${name}*` : name));
    expect([fields.sort(), required.toSorted()]).toEqual([names.toSorted(), Object.keys(body).sort()]);
  },
);

it.each(Object.entries(OPERATIONS).filter(([, { method }]) => method === 'PATCH'))(
  '%s changes nothing that its body does not name',
  async (operation, { path }) => {
    const collection = path.replace('/1', '');
    const isCreation = ({ method, path: at }: Sample) => method === 'POST' && at === collection;
    const { body: smallest } = Object.values(OPERATIONS).find(isCreation)!;
    const { body: created } = await caller.post<{ id: number }>(collection, smallest);
    const target = `${collection}/${created.id}`;
    const { properties } = bodyOf(operation);
    const read = async () => {
      const { body } = await caller.get<Record<string, unknown>>(target);
      return Object.fromEntries(Object.keys(properties).map((name) => [name, body[name]]));
    };
    // The second turn changes each field again. A PATCH of one field must not reset another one to its first value.
    for (const [name, schema] of [...Object.entries(properties), ...Object.entries(properties)]) {
      const before = await read();
      const value = otherThan(before[name], plain(service.document, schema) as FieldSchema);
      const { status } = await caller.send('PATCH', target, { [name]: value });
      const changed = status === 200 ? { [name]: value } : {};
      expect([name, status, await read()]).toEqual([name, status, { ...before, ...changed }]);
      expect([200, 409]).toContain(status);
    }
  },
);

// Each field and each parameter gets one wrong value here, and strange ones in documented-requests.spec.ts. The bounds of values are
// tested in test/unit/libs/http/validation.spec.ts. openapi.yaml has the bounds of all fields, from the same decorators.
it.each(Object.entries(OPERATIONS))(
  '%s refuses whoever may not call it and what is wrong, and has then done nothing',
  async (operation, sample) => {
    const { method, path, status, body } = sample;
    const forAnyKey = FOR_ANY_KEY.includes(operation);
    const [allowed, others, scope] = method === 'GET' ? [reader, writer, 'read'] : [writer, reader, 'write'];
    const before = await lastEvent();
    const anonymous = await service.anonymous().send<ErrorBody>(method, path, body);
    expect([anonymous.status, anonymous.body.code]).toEqual([401, 'missing_api_key']);
    for (const sent of forAnyKey ? [] : method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const refused = await others.send(sent, path, body);
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toMatch(`error="insufficient_scope", scope="${scope}"`);
    }
    for (const { what, status: refusal = 400, code = 'validation_failed', ...defect } of defectsOf(sample)) {
      const { target = path, headers = {}, message = '' } = defect;
      const answer = await caller.with(headers).send<ErrorBody>(method, target, defect.body ?? body);
      expect([what, answer.status, answer.body.code]).toEqual([what, refusal, code]);
      expect(answer.body.message).toContain(message);
    }
    expect(await lastEvent()).toEqual(before);
    for (const client of forAnyKey ? [allowed, others] : [allowed]) {
      expect((await client.send(method, path, body)).status).toBe(status);
    }
  },
);
