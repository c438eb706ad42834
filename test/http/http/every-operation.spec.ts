import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { routeFactsOf } from '#libs/http';
import { KeysService } from '../../../src/modules/auth';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange } from '../../support/builders';
import { type Operation, type Schema, operationsOf, plain } from '../../support/document';
import { useService } from '../../support/use-service';

const ID_RANGE = 'must be an integer from 1 to 9007199254740991.';
const UNKNOWN_QUERIES = ['colour=red', '__proto__=x', 'toString', 'Limit=1', '%00=1', '=', 'id[]=1'];
const BAD_CURSORS = ['', '20', 'YWZ0ZXI6MA', 'YWZ0ZXI6MjAg', '%F0%9F%90%95', 'a'.repeat(5_000)];
const FOREIGN = 'application/json-patch+json';
/** What any valid key may call. */
const ANY_KEY = ['/key', '/rate-limit'];

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

/** Each route of these controllers by its access rule, which its handler declares (src/modules/auth/access-rules.ts). */
function routesOf(controllers: Type<unknown>[]): { name: string; rule: unknown }[] {
  return controllers.flatMap((controller) =>
    Object.entries(Object.getOwnPropertyDescriptors(controller.prototype))
      .filter(
        ([key, { value }]) => key !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, value as object),
      )
      .map(([key, { value }]) => ({
        name: `${controller.name}.${key}`,
        rule: routeFactsOf(value as object)?.access,
      })),
  );
}

// Each field and each parameter gets one wrong value here and strange ones in strange-values.spec.ts: that every bound holds
// stands in test/unit/libs/http/validation.spec.ts, and the bounds in openapi.yaml, which is made of the same decorators.
describe('every operation', () => {
  const service = useService();
  /** Keys of one client: with both scopes, and with one of them. */
  let caller: ApiClient;
  let reader: ApiClient;
  let writer: ApiClient;

  beforeAll(async () => {
    const { key, client } = await service.issueKey();
    const only = (scope: 'read' | 'write') => service.app.get(KeysService).issue({ client, scopes: [scope] });
    const keys = [key, (await only('read')).key, (await only('write')).key];
    [caller, reader, writer] = keys.map((text) => service.callerWith(text)) as [
      ApiClient,
      ApiClient,
      ApiClient,
    ];
    const arrange = new Arrange(caller);
    for (let count = 0; count < 2; count += 1) {
      await arrange.order((await arrange.pet(undefined, 5)).id);
      await caller.post('/webhooks', { url: 'https://shop.example/events' });
    }
  });

  /** Operations with what a request of theirs can have wrong. Deletions come last, and those of what refers to others first. */
  function operations() {
    const all = [...operationsOf(service.document)].map(([name, operation]) =>
      describeOperation(name, operation),
    );
    const [deletions, others] = [true, false].map((deletes) =>
      all.filter(({ method }) => (method === 'DELETE') === deletes),
    );
    return [...others!, ...deletions!.toReversed()];
  }

  function describeOperation(name: string, operation: Operation) {
    const [method, template] = name.split(' ') as [string, string];
    const path = template.replace(/\{\w+\}/g, method === 'DELETE' ? '2' : '1');
    const [example] = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
    const body = example && (method === 'PATCH' ? {} : (example.value as object));
    const status = Number(Object.keys(operation.responses)[0]);
    return { method, path, status, body, defects: defectsOf(operation, method, path, body) };
  }

  function defectsOf(
    { parameters, responses, requestBody }: Operation,
    method: string,
    path: string,
    body?: object,
  ): Defect[] {
    const invalid = { status: 400, code: 'validation_failed' };
    const types = Object.keys(requestBody?.content ?? {});
    const parameter = parameters.find((candidate) => candidate.in === 'path')?.name;
    const isList = parameters.some(({ name }) => name === 'cursor');
    const queries = parameters.filter(({ name, in: place }) => place === 'query' && name !== 'cursor');
    const schema = plain(
      service.document,
      (requestBody?.content['application/json']?.schema ?? {}) as Schema,
    );
    const at = (id: string) => path.replace(/\d+/, id);
    return [
      ...UNKNOWN_QUERIES.slice(0, path === '/pets' ? undefined : 2).map((query) => ({
        ...{ ...invalid, what: query, target: `${path}?${query}` },
      })),
      ...(parameter === undefined ? [] : ['0', '9007199254740992', 'x']).map((id) => ({
        ...{ ...invalid, what: 'id', target: at(id), message: `${parameter} ${ID_RANGE}` },
      })),
      ...queries.map(({ name }) => ({
        ...{ ...invalid, what: name, target: `${path}?${name}=`, message: `${name} must be` },
      })),
      ...(isList ? BAD_CURSORS : []).map((cursor) => ({
        ...{ what: 'cursor', status: 400, code: 'invalid_cursor', target: `${path}?cursor=${cursor}` },
      })),
      ...(body === undefined
        ? method === 'GET'
          ? []
          : [{ ...invalid, what: 'body', body: {}, message: 'takes no body' }]
        : [
            ...Object.keys(schema.properties ?? {}).map((name) => ({
              ...{ ...invalid, what: name, body: { ...body, [name]: {} }, message: `${name} must be` },
            })),
            ...(schema.required ?? []).map((name) => ({
              ...{ ...invalid, what: `no ${name}`, body: { ...body, [name]: undefined } },
              message: `${name} is required`,
            })),
            { ...invalid, what: 'unknown field', body: { ...body, colour: 'red' }, message: '"colour"' },
            { ...invalid, what: 'id in the body', body: { ...body, id: 1 }, message: '"id"' },
            {
              ...{ what: 'media type', status: 415, code: 'unsupported_media_type' },
              ...{
                fields: { 'Content-Type': FOREIGN },
                message: `Content-Type must be ${types.join(' or ')}`,
              },
            },
          ]),
      ...('404' in responses
        ? [{ what: 'unknown id', status: 404, code: codeOf(path), target: at('4711') }]
        : []),
      { what: 'ETag', status: 412, code: 'precondition_failed', fields: { 'If-Match': '"stale"' } },
    ];
  }

  async function aDelivery(): Promise<number> {
    const { body } = await caller.get<[{ id: number }]>('/webhooks/1/deliveries');
    return body[0].id;
  }

  /** Everything that has happened in the store. */
  async function lastEvent(): Promise<unknown> {
    const { rows } = await service.database.pool.query('SELECT max(position) FROM events');
    return rows[0];
  }

  it('declares who may call it, and is public only if it is a health check', () => {
    const modules = [...service.app.get(ModulesContainer).values()];
    const controllers = modules.flatMap((module) => [...module.controllers.values()]);
    const routes = routesOf(controllers.map(({ metatype }) => metatype as Type<unknown>));
    const named = (wanted: unknown) => routes.filter(({ rule }) => rule === wanted).map(({ name }) => name);
    expect(routes).toHaveLength(operationsOf(service.document).size + 2);
    expect(named(undefined)).toEqual([]);
    expect(named('public').sort()).toEqual(['HealthController.live', 'HealthController.ready']);
  });

  it('refuses whoever may not call it and what is wrong, and has then done nothing', async () => {
    for (const { method, path, status, body, defects } of operations()) {
      const operation = `${method} ${path}`;
      const anonymous = await service.anonymous().send<ErrorBody>(method, path, body);
      expect([operation, anonymous.status, anonymous.body.code]).toEqual([operation, 401, 'missing_api_key']);
      const before = await lastEvent();
      const [allowed, others, scope] =
        method === 'GET' ? [reader, writer, 'read'] : [writer, reader, 'write'];
      for (const sent of ANY_KEY.includes(path) ? [] : method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        const { status: refusal, headers } = await others.send(sent, path, body);
        expect([operation, refusal]).toEqual([operation, 403]);
        expect(headers.get('www-authenticate')).toMatch(`error="insufficient_scope", scope="${scope}"`);
      }
      for (const { what, message = '', fields = {}, ...defect } of defects) {
        const answer = await caller
          .with(fields)
          .send<ErrorBody>(method, defect.target ?? path, defect.body ?? body);
        const seen = [operation, what, answer.status, answer.body.code];
        expect(seen).toEqual([operation, what, defect.status, defect.code]);
        expect(answer.body.message).toContain(message);
      }
      expect([operation, await lastEvent()]).toEqual([operation, before]);
      const target = path.endsWith('/retry') ? `/webhooks/1/deliveries/${await aDelivery()}/retry` : path;
      expect([operation, (await allowed.send(method, target, body)).status]).toEqual([operation, status]);
      if (ANY_KEY.includes(path)) expect((await others.get(path)).status).toBe(200);
    }
  });
});

function codeOf(path: string): string {
  const [, collection] = /^\/(?:store\/)?(\w+)/.exec(path)!;
  const codes: Record<string, string> = { categories: 'category', orders: 'order', webhooks: 'webhook' };
  return `${codes[collection!] ?? 'pet'}_not_found`;
}
