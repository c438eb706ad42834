import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { petstore, petstoreJson } from '../../support/command-line';
import { until } from '../../support/eventually';
import { WEBHOOK_KEY } from '../../support/service';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { unlimitedKey } from '../faults/support/unlimited-key';
import { RunningCommand } from './support/running-command';

const bench = new ServiceBench();
let database: TestDatabase;
let service: ServiceProcess;
/** Of a client in its shell. */
let environment: { PETSTORE_KEY: string };

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url, WEBHOOK_KEY, WEBHOOK_NETWORKS: '127.0.0.0/8' };
  service = await bench.serve(settings);
  environment = { PETSTORE_KEY: await unlimitedKey(settings) };
});

const servers: Server[] = [];

/** A server that is not the service, and what it was asked for. */
async function aServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume();
    answer(request, response);
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

afterAll(async () => {
  servers.forEach((server) => server.close().closeAllConnections());
  await bench.clear();
  await database.drop();
});

const api = (...args: string[]) => petstore(['api', ...args, '--url', service.url], environment);
const json = <Body>(...args: string[]) =>
  petstoreJson<Body>(['api', ...args, '--url', service.url], environment);

describe('petstore api', () => {
  it('sends fields as a JSON body or as the query, and prints the response', async () => {
    const category = await json<{ id: number }>('POST', '/categories', '-f', 'name=Dogs = best');
    expect(category).toEqual({ id: category.id, name: 'Dogs = best' });
    const fields = ['-f', 'name="12"', '-f', `categoryId=${category.id}`];
    const pet = await json<object>('post', '/pets', ...fields);
    expect(pet).toMatchObject({ name: '12', categoryId: category.id, status: 'available' });
    expect(await json('GET', '/pets', '-f', `categoryId=${category.id}`, '-f', 'limit=1')).toEqual([pet]);
  });

  it('fails with the error of the service, and can show the header fields', async () => {
    const { code, stdout, stderr } = await api('GET', '/pets/99', '--include');
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'petstore: the service answered 404.\n' });
    expect(stdout).toMatch(/^HTTP 404\n[^]*x-ratelimit-remaining: [^]*\n\n{"code":"pet_not_found"/);
  });

  it('sends header fields, and refuses what is none', async () => {
    const order = ['POST', '/categories', '-f', 'name=Once', '-H', 'Idempotency-Key: once'];
    expect(await json<object>(...order)).toEqual(await json<object>(...order));
    const { code, stderr } = await api('GET', '/pets', '-H', 'If-Match');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^petstore: option '-H.*"If-Match" is not a header field/) as string,
    });
  });

  it('refuses a method that no operation has', async () => {
    const { code, stderr } = await api('TRACE', '/pets');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'petstore: <method> takes GET, HEAD, DELETE, POST, PUT, PATCH, not "TRACE".\n',
    });
  });

  it('prints no terminal sequences of a body, which stays the same JSON', async () => {
    const name = 'a\u001b[2J\u009b31m\u202e';
    const { stdout } = await api('POST', '/categories', '-f', `name=${JSON.stringify(name)}`, '--json');
    expect(stdout).toContain('"a\\u001b[2J\\u009b31m\\u202e"');
    expect(JSON.parse(stdout)).toMatchObject({ name });
  });

  it('does not take the key to where a redirect points', async () => {
    const elsewhere = await aServer((_request, response) => response.end('{}'));
    const redirecting = await aServer((_request, response) => {
      response.writeHead(307, { Location: elsewhere.url }).end();
    });
    const outcome = await petstore(['api', 'GET', '/pets', '--url', redirecting.url], environment);
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: 'petstore: the service answered 307.\n' });
    expect([redirecting.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });

  it('says how to start the service where none answers', async () => {
    const outcome = await petstore(['api', 'GET', '/pets', '--url', 'http://127.0.0.1:1'], {
      PETSTORE_KEY: 'psk_live_x',
    });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^petstore: No service answers at http:\/\/127\.0\.0\.1:1 .* serve/);
  });
});

describe('petstore webhooks listen', () => {
  const listen = (url: string, ...args: string[]) =>
    new RunningCommand(['webhooks', 'listen', '--url', url, ...args], { environment, cwd: '/' });

  it('prints what it verified, refuses what is not signed, and deletes its webhook', async () => {
    const listener = listen(service.url, '--types', 'category.created');
    await until(() => listener.stdout.includes('until Ctrl-C'));
    const [address = ''] = /http:\/\/127[^ ]+/.exec(listener.stdout)!;
    expect((await fetch(address, { method: 'POST', body: 'forged' })).status).toBe(401);
    await json('POST', '/categories', '-f', 'name=Cats');
    await until(() => listener.stdout.includes('verified  {"id":"evt_'));
    expect(await json<object[]>('GET', '/webhooks')).toHaveLength(1);
    const { code, stdout, stderr } = await listener.end('SIGINT');
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'petstore: interrupted; the webhook is deleted.\n',
    });
    expect(stdout).toMatch(/REFUSED: Missing required headers {2}forged\n/);
    expect(await json('GET', '/webhooks')).toEqual([]);
  });

  it('forwards verified events with their signature, and answers what the receiver answers', async () => {
    const receiver = await aServer((_request, response) => response.writeHead(503).end());
    const listener = listen(service.url, '--types', 'category.created', '--forward-to', receiver.url);
    await until(() => listener.stdout.includes('until Ctrl-C'));
    await json('POST', '/categories', '-f', 'name=Birds');
    await until(() => listener.stdout.includes(`verified, ${receiver.url} answered 503  {"id":"evt_`));
    expect(receiver.requests[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    expect(await listener.end('SIGINT')).toMatchObject({ code: 130 });
  });

  it('deletes its webhook too if Ctrl-C comes while it is created', async () => {
    let created = (): void => undefined;
    const slow = await aServer(({ method }, response) => {
      const body = JSON.stringify({ id: 7, secret: `whsec_${Buffer.alloc(24).toString('base64')}` });
      created = () => void response.writeHead(201).end(body);
      if (method === 'DELETE') {
        response.writeHead(204).end();
      }
    });
    const listener = listen(slow.url);
    await until(() => slow.requests.length === 1);
    listener.child.kill('SIGINT');
    // Lets the signal arrive first; the outcome is the same if it does not.
    setTimeout(created, 300);
    const { code, stderr } = await listener.end();
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'petstore: interrupted; the webhook is deleted.\n',
    });
    expect(slow.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /webhooks',
      'DELETE /webhooks/7',
    ]);
  });

  it('says that its webhook is still there when the service refuses to delete it', async () => {
    const refusing = await aServer(({ method }, response) => {
      const body = JSON.stringify({ id: 7, secret: `whsec_${Buffer.alloc(24).toString('base64')}` });
      response.writeHead(method === 'POST' ? 201 : 403).end(method === 'POST' ? body : '{}');
    });
    const listener = listen(refusing.url);
    await until(() => listener.stdout.includes('until Ctrl-C'));
    const { code, stderr } = await listener.end('SIGINT');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^petstore: webhook 7 is still there: the service answered 403 to its deletion\. Delete it: .* api DELETE \/webhooks\/7\n$/,
      ) as string,
    });
  });
});
