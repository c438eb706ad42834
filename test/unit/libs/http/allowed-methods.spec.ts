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
  [
    '/pets /pets?limit=1 /pets#top /%70ets http://test/pets http://test:8080/pets?a=/pets/1',
    'GET, HEAD, POST',
  ],
  ['/pets/7 /pets/%zz /pets/1%2F2', 'GET, HEAD, DELETE'],
  ['/pets/7/notes.txt', 'POST'],
  ['/pets/mine', 'GET, HEAD, DELETE, PUT, PATCH'],
  ['/  * /pet /petss /pets/ /pets// /pets/7/ /pets/7/notes-txt /a/pets /files/a //pets', null],
])('%s allow %s', (targets, allow) => {
  const found = targets.split(' ').map((target) => [target, methods.of(target)]);
  expect(found).toEqual(targets.split(' ').map((target) => [target, allow]));
});
