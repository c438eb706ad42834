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

afterAll(async () => {
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
      stderr: expect.stringMatching(/^petstore: --header takes .*, not "If-Match"\.\n$/) as string,
    });
  });

  it('refuses a method that no operation has', async () => {
    const { code, stderr } = await api('TRACE', '/pets');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'petstore: <method> takes GET, HEAD, DELETE, POST, PUT, PATCH, not "TRACE".\n',
    });
  });

  it('says how to start the service where none answers', async () => {
    const outcome = await petstore(['api', 'GET', '/pets', '--url', 'http://127.0.0.1:1'], {
      PETSTORE_KEY: 'psk_live_x',
    });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^petstore: No service answers at http:\/\/127\.0\.0\.1:1 .* serve/);
  });
});

it('petstore webhooks listen prints what it verified, refuses what is not signed, and deletes its webhook', async () => {
  const args = ['webhooks', 'listen', '--types', 'category.created', '--url', service.url];
  const listener = new RunningCommand(args, { environment, cwd: '/' });
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
