import fastify, { type onRequestHookHandler } from 'fastify';
import { protectPage } from '../../../src/http/document/serve-document';

let failure: Error | undefined;
jest.mock('helmet', () => ({
  __esModule: true,
  default: () => (_request: unknown, _response: unknown, next: (error?: Error) => void) => next(failure),
}));

test("the page's existing hooks still run, and a failure of helmet is not ignored", async () => {
  const app = fastify();
  protectPage(app);
  const seen: string[] = [];
  const note: onRequestHookHandler = ({ url }, _reply, done) => {
    seen.push(url);
    done();
  };
  app.get('/docs', { onRequest: note }, () => 'page');

  expect(await app.inject('/docs')).toMatchObject({ statusCode: 200, body: 'page' });
  expect(seen).toEqual(['/docs']);
  failure = new Error('no policy');
  expect(await app.inject('/docs')).toMatchObject({ statusCode: 500 });
  await app.close();
});
