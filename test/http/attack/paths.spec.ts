import { exchange, requestText } from '../../support/raw-http';
import { MINUTE_MS } from '../../../src/modules/quotas/rules/limits';
import { operationsOf } from '../../support/document';
import { useService } from '../../support/use-service';

const service = useService();

/** Ways to write a path that have led past somebody's access rules, or into a path of another meaning. */
const TRICKS: [string, (path: string) => string][] = [
  ['two slashes', (path) => `/${path}`],
  ['a slash at the end', (path) => `${path}/`],
  ['a dot segment', (path) => `/.${path}`],
  ['parent segments', (path) => `/health/live/..${path}`],
  ['escaped parent segments', (path) => `/health/live/%2e%2e${path}`],
  ['doubly escaped parent segments', (path) => `/health/live/%252e%252e${path}`],
  ['an escaped slash', (path) => path.replace(/(.)\//, '$1%2f')],
  ['a backslash', (path) => path.replace(/(.)\//, '$1\\')],
  ['a path parameter (;)', (path) => `${path};jsessionid=1`],
  ['a path parameter with an open path', (path) => `/health/live;${path}`],
  ['NUL', (path) => `${path}%00`],
  ['NUL and an open path', (path) => `${path}%00/health/live`],
  ['an extension', (path) => `${path}.json`],
  ['a fragment', (path) => `${path}#/health/live`],
  ['a query of an open path', (path) => `/health/live?x=${path}`],
  ['capitals', (path) => path.toUpperCase()],
  ['an escaped letter', (path) => path.replace('s', '%73')],
  ['a full-width letter', (path) => path.replace('s', '%EF%BD%93')],
  ['an overlong escape', (path) => path.replace(/\//g, '%c0%af')],
  ['a URL', (path) => `http://127.0.0.1${path}`],
  ['a URL with an open path as its user', (path) => `http://health%2flive@127.0.0.1${path}`],
  ['a space', (path) => `${path}%20`],
  ['15,000 slashes', (path) => `${'/'.repeat(15_000)}${path}`],
  ['15,000 letters', (path) => `${path}/${'x'.repeat(15_000)}`],
];

/** Header fields that other servers take for the path or the method. */
const OVERRIDES = (path: string) => [
  `X-Original-URL: ${path}`,
  `X-Rewrite-URL: ${path}`,
  `X-Forwarded-Path: ${path}`,
  'X-HTTP-Method-Override: DELETE',
  'X-Method-Override: DELETE',
];

const operations = () =>
  [...operationsOf(service.document).keys()].map(
    (name) => name.replace(/\{\w+\}/g, '1').split(' ') as [string, string],
  );

describe('no spelling of a path bypasses authentication', () => {
  it.each(TRICKS)('%s', async (_what, trick) => {
    // Each trick at every fourth operation, another one first each time: six tricks at each operation.
    const first = TRICKS.findIndex(([, other]) => other === trick);
    for (const [method, path] of operations().filter((_operation, index) => (index + first) % 4 === 0)) {
      service.clock.advance(MINUTE_MS);
      const { status, text } = await exchange(service.port, requestText(`${method} ${trick(path)}`));
      const isOpen = trick(path).startsWith('/health/live?');
      expect({ path, status: isOpen ? 'open' : String(status) }).toEqual({
        path,
        status: expect.stringMatching(isOpen ? /open/ : /^4\d\d$/) as string,
      });
      expect(text).not.toMatch(/"id":|"quantity":|"plan":/);
    }
  });

  it.each(['GET /health/live', 'GET /openapi.json'])(
    'no header field turns %s into another operation',
    async (open) => {
      const plain = await exchange(service.port, requestText(open));
      for (const path of new Set(operations().map(([, each]) => each))) {
        service.clock.advance(MINUTE_MS);
        const forged = await exchange(service.port, requestText(open, OVERRIDES(path)));
        expect([forged.status, forged.text]).toEqual([plain.status, plain.text]);
      }
    },
  );
});

it('A method in a header field is ignored: GET never deletes', async () => {
  const caller = await service.caller();
  const { body } = await caller.post<{ id: number }>('/categories', { name: 'Dogs' });
  const forging = caller.with({ 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' });
  expect((await forging.get(`/categories/${body.id}`)).status).toBe(200);
  expect((await caller.get(`/categories/${body.id}`)).status).toBe(200);
});
