import type { ErrorBody } from '../../../support/api-client';
import { Arrange } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

/** Every operation, with a body that it takes and the status it answers without the unknown parameter. */
const OPERATIONS: [method: string, path: string, status: number, body?: object][] = [
  ['GET', '/pets', 200],
  ['HEAD', '/pets', 200],
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
  ['POST', '/webhooks/1/secret', 200],
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

describe('unknown query parameters', () => {
  const { service, caller } = useStore();

  beforeAll(async () => {
    const arrange = new Arrange(caller);
    await arrange.pet();
    await arrange.pet();
  });

  it('are tested on every operation of the document', () => {
    const documented = Object.entries(service.document.paths).flatMap(([path, operations]) => {
      return Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{.+?\}/g, '#')}`,
      );
    });
    const tried = OPERATIONS.map(([method, path]) => `${method} ${path.replace(/\d+/g, '#')}`);
    expect(new Set(tried.filter((name) => !name.startsWith('HEAD')))).toEqual(new Set(documented));
  });

  describe.each(OPERATIONS)('%s %s', (method, path, status, body) => {
    test.each(['colour=red', '__proto__=x', 'toString', 'constructor=1', 'Limit=1', '%00=1', '=', 'id[]=1'])(
      'rejects ?%s',
      async (query) => {
        const answer = await caller.send<ErrorBody | undefined>(method, `${path}?${query}`, body);
        expect(answer.status).toBe(400);
        if (method !== 'HEAD') {
          expect(answer.body!.code).toBe('validation_failed');
        }
      },
    );

    it('still works after the rejected requests', async () => {
      expect((await caller.send(method, path, body)).status).toBe(status);
    });
  });
});
