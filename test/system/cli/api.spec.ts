import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunningCommand, unlimitedKey } from '../../support/command-line';
import { until } from '../../support/eventually';
import { WEBHOOK_KEY } from '../../support/service';
import { type ServiceProcess, useProcesses } from '../../support/service-process';
import { commandJson, runCommand } from './support/use-command-line';

const { bench, database } = useProcesses();
let service: ServiceProcess;
/** Of a client in its shell. */
let environment: { PETSTORE_KEY: string };

beforeAll(async () => {
  const settings = { DATABASE_URL: database.url, WEBHOOK_KEY, WEBHOOK_NETWORKS: '127.0.0.0/8' };
  service = await bench.serve(settings);
  environment = { PETSTORE_KEY: await unlimitedKey(database.url) };
});

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close().closeAllConnections()));

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

const api = (...args: string[]) => runCommand(['api', ...args, '--url', service.url], environment);
const json = <Body>(...args: string[]) =>
  commandJson<Body>(['api', ...args, '--url', service.url], environment);

describe('petstore api', () => {
  it('sends fields as a JSON body or as the query, and header fields, and prints the response', async () => {
    const create = ['POST', '/categories', '-f', 'name=Dogs = best', '-H', 'Idempotency-Key: once'];
    const category = await json<{ id: number }>(...create);
    expect(category).toEqual({ id: category.id, name: 'Dogs = best' });
    expect(await json(...create)).toEqual(category);
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
    const outcome = await runCommand(['api', 'GET', '/pets', '--url', redirecting.url], environment);
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: 'petstore: the service answered 307.\n' });
    expect([redirecting.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });

  it('says how to start the service where none answers', async () => {
    const outcome = await runCommand(['api', 'GET', '/pets', '--url', 'http://127.0.0.1:1'], environment);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^petstore: No service answers at http:\/\/127\.0\.0\.1:1 .* serve/);
  });
});

describe('petstore webhooks listen', () => {
  const listen = (url: string, ...args: string[]) =>
    new RunningCommand(['webhooks', 'listen', '--url', url, ...args], environment);
  const listening = (listener: RunningCommand) => until(() => listener.stdout.includes('until Ctrl-C'));

  it('prints and forwards what it verified, refuses what is not signed, and deletes its webhook', async () => {
    const receiver = await aServer((_request, response) => response.writeHead(503).end());
    const listener = listen(service.url, '--types', 'category.created', '--forward-to', receiver.url);
    await listening(listener);
    const [address = ''] = /http:\/\/127[^ ]+/.exec(listener.stdout)!;
    expect((await fetch(address, { method: 'POST', body: 'forged' })).status).toBe(401);
    await json('POST', '/categories', '-f', 'name=Cats');
    await until(() => listener.stdout.includes(`verified, ${receiver.url} answered 503  {"id":"evt_`));
    expect(receiver.requests[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    expect(await json<object[]>('GET', '/webhooks')).toHaveLength(1);
    const isDeleted = { code: 130, stderr: 'petstore: interrupted; the webhook is deleted.\n' };
    expect(await listener.end('SIGINT')).toMatchObject(isDeleted);
    expect(listener.stdout).toMatch(/REFUSED: Missing required headers {2}forged\n/);
    expect(await json('GET', '/webhooks')).toEqual([]);
  });

  it('says that its webhook is still there when the service refuses to delete it', async () => {
    const created = JSON.stringify({ id: 7, secret: `whsec_${Buffer.alloc(24).toString('base64')}` });
    const refusing = await aServer(({ method }, response) =>
      method === 'POST' ? response.writeHead(201).end(created) : response.writeHead(403).end('{}'),
    );
    const listener = listen(refusing.url);
    await listening(listener);
    const { code, stderr } = await listener.end('SIGINT');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^petstore: webhook 7 is still there: the service answered 403 to its deletion\. Delete it: .* api DELETE \/webhooks\/7\n$/,
    );
  });
});
