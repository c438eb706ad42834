import fastify from 'fastify';
import { AllowedMethods } from '#libs/http';

const methods = new AllowedMethods();

beforeAll(async () => {
  const server = fastify();
  methods.watch(server);
  const handler = () => '';
  server.get('/pets', handler);
  server.post('/pets', handler);
  server.get('/pets/:petId', handler);
  server.delete('/pets/:petId', handler);
  server.post('/pets/:petId/notes.txt', handler);
  server.route({ method: ['PUT', 'PATCH'], url: '/pets/mine', handler });
  server.get('/files/*', handler);
  server.options('*', handler);
  await server.ready();
});

test.each([
  ['/pets', 'GET, HEAD, POST'],
  ['/pets?limit=1', 'GET, HEAD, POST'],
  ['/pets#top', 'GET, HEAD, POST'],
  ['/%70ets', 'GET, HEAD, POST'],
  ['http://test/pets', 'GET, HEAD, POST'],
  ['http://test:8080/pets?a=/pets/1', 'GET, HEAD, POST'],
  ['/pets/7', 'GET, HEAD, DELETE'],
  ['/pets/%zz', 'GET, HEAD, DELETE'],
  ['/pets/1%2F2', 'GET, HEAD, DELETE'],
  ['/pets/7/notes.txt', 'POST'],
  ['/pets/mine', 'GET, HEAD, DELETE, PUT, PATCH'],
])('%s allows %s', (target, allow) => {
  expect(methods.of(target)).toBe(allow);
});

test.each([
  '/',
  '',
  '*',
  '/pet',
  '/petss',
  '/pets/',
  '/pets//',
  '/pets/7/',
  '/pets/7/notes-txt',
  '/a/pets',
  '/files/a',
  '//pets',
])('%j is an unknown path', (target) => {
  expect(methods.of(target)).toBeNull();
});
