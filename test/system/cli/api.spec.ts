import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { RunningCommand, complaint } from '../../support/command-line';
import { insertUnlimitedKey } from '../../support/test-database';
import { until } from '../../support/eventually';
import { freePort, listen } from '../../support/ports';
import { LOOPBACK_WEBHOOKS, Receiver, isSignedBy } from '../../support/receiver';
import { type ServiceProcess, useProcesses } from '../../support/service-process';
import { commandJson, runCommand } from './support/use-command-line';

const { processes, database } = useProcesses();
let service: ServiceProcess;
/** The variables in the shell of a client. */
let environment: { PETSTORE_KEY: string };

beforeAll(async () => {
  service = await processes.serve({ DATABASE_URL: database.url, ...LOOPBACK_WEBHOOKS });
  environment = { PETSTORE_KEY: await insertUnlimitedKey(database.url) };
});

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close().closeAllConnections()));

/** Starts a server other than the service. @returns its URL and the requests that it gets */
async function aServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume();
    answer(request, response);
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${await listen(server)}`, requests };
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
    expect(await json('GET', 'pets', '-f', `categoryId=${category.id}`, '-f', 'limit=1')).toEqual([pet]);
  });

  it('prints all pages of a list', async () => {
    const pages = async (...args: string[]) => {
      const { stdout } = await api('/categories', '-f', 'limit=1', ...args);
      return stdout
        .trim()
        .split('\n')
        .flatMap((line) => JSON.parse(line) as unknown[]);
    };
    await json('POST', '/categories', '-f', 'name=Fish');
    await json('POST', '/categories', '-f', 'name=Birds');
    expect(await pages()).toHaveLength(1);
    expect(await pages('--paginate')).toEqual(await json('/categories', '-f', 'limit=100'));
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

  it('refuses a key, an address and header fields that cannot be sent, and repeats no secret', async () => {
    const { PETSTORE_KEY } = environment;
    for (const key of [
      `${PETSTORE_KEY.slice(0, 12)}…`,
      `${PETSTORE_KEY.slice(0, 20)}\n${PETSTORE_KEY.slice(20)}`,
    ]) {
      const outcome = await runCommand(['api', '/pets', '--url', service.url], { PETSTORE_KEY: key });
      expect(outcome).toEqual(complaint(2, /PETSTORE_KEY takes an API key, which is printable ASCII/));
      expect(outcome.stderr).not.toContain(PETSTORE_KEY.slice(9, 20));
    }
    const withPassword = service.url.replace('//', '//user:not-to-be-seen@');
    const refused = await runCommand(['api', '/pets', '--url', withPassword], environment);
    expect(refused).toEqual(complaint(2, /the address must have no user and password/));
    expect(refused.stderr).not.toContain('not-to-be-seen');
    for (const field of ['Expect: 100-continue', 'Transfer-Encoding: chunked']) {
      expect(await api('/pets', '-H', field)).toEqual(complaint(2, /The request cannot be sent: /));
    }
    expect(
      await runCommand(['api', '/pets', '--url', service.url], { PETSTORE_KEY: ` ${PETSTORE_KEY}\r\n` }),
    ).toMatchObject({ code: 0 });
  });

  it('says how to start the service where none answers, and that fetch blocks a port', async () => {
    const unused = `http://127.0.0.1:${await freePort()}`;
    for (const command of ['api /pets', 'webhooks listen']) {
      const to = (url: string) => runCommand([...command.split(' '), '--url', url], environment);
      const isNone =
        /No service answers at \S+ \(connect ECONNREFUSED .*\)\. Start the service with .* serve/;
      expect(await to(unused)).toEqual(complaint(1, isNone));
      const isBlocked = /127\.0\.0\.1:6000 \(bad port\)\. Node\.js and browsers block this port: /;
      expect(await to('http://127.0.0.1:6000')).toEqual(complaint(1, isBlocked));
    }
  });
});

it('petstore webhooks test fails as the delivery does, or because the webhook is paused or disabled; deliveries shows what is due when', async () => {
  const receiver = await Receiver.start();
  const { id } = await json<{ id: number }>('POST', '/webhooks', '-f', `url=${receiver.url}`);
  const webhooks = (command: string, ...args: string[]) =>
    runCommand(['webhooks', command, String(id), ...args], { DATABASE_URL: database.url });
  expect(await webhooks('test')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^evt_test_\d+ → 204\n$/) as string,
  });
  receiver.answers(500);
  expect(await webhooks('test')).toEqual(complaint(1, /evt_test_\d+: The response was 500\./));
  const { stdout } = await webhooks('deliveries', '--json');
  const [failed, delivered] = JSON.parse(stdout) as Record<string, string>[];
  expect([failed, delivered]).toMatchObject([
    { status: 'pending', responseStatus: 500, error: 'The response was 500.' },
    { status: 'delivered', attempts: 1, responseStatus: 204, error: null, nextAttemptAt: null },
  ]);
  const due = failed!.nextAttemptAt!;
  expect(Date.parse(due) - Date.parse(failed!.lastAttemptAt!)).toBeGreaterThanOrEqual(5_000);
  const table = await webhooks('deliveries', '--limit', '1');
  expect(table.stdout).toMatch(/^ *id .* next attempt\n[^\n]*pending[^\n]*The response was 500\.[^\n]*\n$/);
  receiver.answers(503, { 'Retry-After': '3600' });
  expect(await webhooks('test')).toEqual(complaint(1, /The response was 503\./));
  expect(await webhooks('test')).toEqual(
    complaint(1, /The event waits until 20.*Z, because .* webhooks enable \d+/),
  );
  await api('PATCH', `/webhooks/${id}`, '-f', 'enabled=false');
  expect(await webhooks('test')).toEqual(complaint(1, /Webhook \d+ is disabled/));
  expect((await api('DELETE', `/webhooks/${id}`)).code).toBe(0);
  await receiver.stop();
});

describe('petstore webhooks listen', () => {
  const listen = (url: string, ...args: string[]) =>
    new RunningCommand(['webhooks', 'listen', '--url', url, ...args], environment);
  const listening = (listener: RunningCommand) => until(() => listener.stderr.includes('until Ctrl-C'));
  const secretOf = (listener: RunningCommand) => /whsec_\S+/.exec(listener.stderr)![0];

  it('prints and forwards events with a signature, creates no webhook, and ends with 0 on Ctrl-C', async () => {
    const receiver = await Receiver.start();
    receiver.answers(503);
    const printing = listen(service.url, '--types', 'category.created', '--json');
    const forwarding = listen(service.url, '--types', 'category.created', '--forward-to', receiver.url);
    await Promise.all([listening(printing), listening(forwarding)]);
    await json('POST', '/categories', '-f', 'name=Cats');
    await until(() => printing.stdout.includes('\n') && forwarding.stdout.includes('\n'));
    const { event } = JSON.parse(printing.stdout) as {
      event: { id: string; timestamp: string; data: object };
    };
    expect(event.data).toMatchObject({ name: 'Cats' });
    expect(forwarding.stdout).toMatch(
      new RegExp(`^${event.timestamp} category.created ${event.id} → 503 \\(\\d+ ms\\)\n$`),
    );
    const headers = { 'user-agent': 'petstore-webhooks/1.0', 'content-type': 'application/json' };
    expect(receiver.received).toMatchObject([{ event, headers }]);
    // The secret is the same each time, so that a receiver needs to be set up only once.
    expect(isSignedBy(secretOf(printing), receiver.received[0]!)).toBe(true);
    expect(await json('GET', '/webhooks')).toEqual([]);

    await receiver.stop();
    await json('POST', '/categories', '-f', 'name=Dogs');
    await until(() =>
      /→ The connection failed: 127\.0\.0\.1 refused the connection\. \(\d+ ms\)\n$/.test(forwarding.stdout),
    );
    expect(await forwarding.outcome('SIGINT')).toMatchObject({ code: 0 });
    expect(await printing.outcome('SIGTERM')).toMatchObject({ code: 143 });
  });

  it('goes on where it was, with one line, through restarts, limits and lost events', async () => {
    const link = (cursor: number) => ({ Link: `</store/events?cursor=${cursor}>; rel="next"` });
    const event = { id: 'evt_1', type: 'pet.created', timestamp: '2026-11-21T09:30:00Z', data: {} };
    const answers: ((response: ServerResponse) => unknown)[] = [
      (response) => response.writeHead(200, link(1)).end('[]'),
      (response) => response.destroy(),
      (response) => response.writeHead(503, { 'Retry-After': '1' }).end('<html>'),
      (response) => response.writeHead(410, link(2)).end('{}'),
      (response) => response.writeHead(200, link(3)).end(JSON.stringify([event])),
    ];
    const server = await aServer((_request, response) => void answers.shift()?.(response));
    const listener = listen(server.url);
    await until(() => listener.stdout === '2026-11-21T09:30:00Z pet.created evt_1 {}\n');
    await until(() => server.requests.length === 6);
    const cursors = server.requests.map(({ url }) => /cursor=(\w+)/.exec(url!)![1]);
    expect(cursors).toEqual(['now', '1', '1', '1', '2', '3']);
    const { stderr } = await listener.outcome('SIGINT');
    expect(stderr.match(/^petstore: .*/gm)).toEqual([
      'petstore: the service does not answer; trying again.',
      'petstore: the service has lost events. Events of the last minute before may be printed again.',
    ]);
  });

  it('fails in one line where it cannot begin', async () => {
    const refusing = await aServer((_request, response) => response.writeHead(401).end('<html>'));
    const outcome = await runCommand(['webhooks', 'listen', '--url', refusing.url], environment);
    const reason = /GET \/events: the response 401 \(no Content-Type\) is not from the Pet Store service/;
    expect(outcome).toEqual(complaint(1, reason));
  });
});

it('events --follow ends at Ctrl-C while it is still reading many new events', async () => {
  const EVENTS = 20_000;
  const add = (count: number) =>
    database.pool.query(
      `INSERT INTO events (id, type, data)
       SELECT gen_random_uuid(), 'pet.created', '{}' FROM generate_series(1, ${count})`,
    );
  await add(1);
  const follower = new RunningCommand(['events', '--follow'], { DATABASE_URL: database.url });
  // The follower prints the existing events before it waits for new ones.
  await until(() => follower.stdout !== '');
  const before = follower.stdout;
  // The follower cannot write more than its first lines until the test reads on.
  const output = follower.child.stdout;
  output.once('data', () => output.pause());
  await add(EVENTS);
  await until(() => follower.stdout !== before);
  const ending = follower.outcome('SIGINT');
  output.resume();
  const { code, stdout, stderr } = await ending;
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Waiting for new events until Ctrl-C.\n' });
  expect(stdout.split('\n').length).toBeLessThan(EVENTS);
});
