import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import net, { type Server, type Socket, createServer, isIP } from 'node:net';
import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';
import { type FindAddresses, allowedAddresses } from '../../../../src/modules/webhooks/delivery/name-lookup';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';
import { beforeTests } from '../../../support/before-tests';
import { until } from '../../../support/eventually';
import { listen } from '../../../support/ports';
import { SpawnedProcess } from '../../../support/spawned-process';
import { Receiver } from '../../../support/receiver';

const LOCAL = new AddressPolicy(['127.0.0.0/8']);
const FORBIDDEN = { status: null, error: 'The URL leads to an address that webhooks may not be sent to.' };
const message = (url: string) => ({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' });

/** A lookup that finds these addresses for every name. */
const onlyTo =
  (...addresses: string[]): FindAddresses =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));

/** Functions that end what the present test has started. */
const endings: (() => unknown)[] = [];
afterEach(() => endings.splice(0).forEach((end) => end()));

function newSender(policy = LOCAL, find?: FindAddresses): Sender {
  const sender = new Sender(policy, find);
  endings.push(() => sender.close());
  return sender;
}

/** Starts a receiver that is a bare socket, because it sends bytes that no HTTP server would send. */
async function rawReceiver(serve: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    endings.push(() => socket.destroy());
    serve(socket);
  });
  endings.push(() => server.close());
  return { url: `http://127.0.0.1:${await listen(server)}/`, server };
}

describe('forbidden addresses', () => {
  const receiver = beforeTests(Receiver.start, (one) => one.stop());

  it('a name is resolved and checked at each attempt (DNS rebinding)', async () => {
    let asked = 0;
    const policy = new AddressPolicy(['127.0.0.1']);
    const sender = newSender(policy, (name) => {
      asked += 1;
      return onlyTo(`127.0.0.${asked}`)(name);
    });
    receiver.answer = (response) => response.writeHead(204, { Connection: 'close' }).end();
    const url = receiver.url.replace('127.0.0.1', 'shop.example');
    expect(await sender.send(message(url))).toMatchObject({ status: 204 });
    expect(await sender.send(message(url))).toEqual(FORBIDDEN);
    expect([asked, receiver.received.length]).toEqual([2, 1]);
  });

  // test/unit/modules/webhooks/address-policy.spec.ts has all spellings of addresses.
  it.each(['127.0.0.1', 'localhost'])('%s in the table is checked as well', async (host) => {
    const sender = newSender(new AddressPolicy([]));
    expect(await sender.send(message(`https://${host}:8443/`))).toEqual(FORBIDDEN);
  });
});

it('Of the addresses of a name, two of each family at most are tried, after the check', async () => {
  const all = '10.0.0.1 1.1.0.0 1.1.0.1 1.1.0.2 ::1 2606:4700::1 2606:4700::2 2606:4700::3'.split(' ');
  const found = await allowedAddresses('shop.example', onlyTo(...all), new AddressPolicy([]), 'https:');
  expect(found.join(' ')).toBe('1.1.0.0 1.1.0.1 2606:4700::1 2606:4700::2');
});

/** A program that accepts no connection until it reads a line from standard input. From then on, it answers each request. */
const BUSY = `const server = require('node:net').createServer((socket) => socket.on('error', () => {}).on('data', () =>
    socket.end('HTTP/1.1 204 No Content\\r\\nConnection: close\\r\\n\\r\\n')));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    require('node:fs').readSync(0, Buffer.alloc(1));
  });`;

describe('A receiver that accepts late', () => {
  const UNREACHABLE = '2001:db8::1';
  const sender = (...addresses: string[]) =>
    newSender(new AddressPolicy(['127.0.0.0/8', '2001:db8::/32']), onlyTo(...addresses));
  let busy: SpawnedProcess;
  let url: string;
  let tried: jest.SpyInstance;

  beforeEach(async () => {
    busy = new SpawnedProcess([process.execPath, '-e', BUSY]);
    const port = await busy.printed(() => busy.lines[0]);
    url = `http://shop.example:${port}/`;
    for (let place = 0; place < 2; place += 1) {
      const waiting = net.connect(Number(port), '127.0.0.1').on('error', () => undefined);
      endings.push(() => waiting.destroy());
      await once(waiting, 'connect');
    }
    tried = jest.spyOn(net, 'connect');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    await busy.end('SIGKILL');
  });

  it.each([
    ['127.0.0.1', UNREACHABLE],
    [UNREACHABLE, '127.0.0.1'],
  ])('is reached although another of its addresses is unreachable: %s, %s', async (...addresses) => {
    const attempted = sender(...addresses).send(message(url));
    await until(() => tried.mock.calls.length === 2);
    busy.child.stdin.write('\n');
    expect(await attempted).toMatchObject({ status: 204 });
  });

  it('is given up after fifteen seconds, and the reason does not name an internal address', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const attempted = sender('127.0.0.1').send(message(url));
    await until(() => tried.mock.calls.length === 1);
    jest.advanceTimersByTime(15_000);
    const error = 'The connection failed: an internal address did not answer.';
    expect(await attempted).toEqual({ status: null, error });
  });
});

describe('after fifteen seconds', () => {
  const LATE = { status: null, error: 'There was no response within 15 seconds.' };
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  });
  afterEach(() => {
    jest.useRealTimers();
    return receiver.stop();
  });

  it('an attempt is given up that gets no response', async () => {
    const isAsked = new Promise<void>((asked) => (receiver.answer = () => asked()));
    const attempted = newSender().send(message(receiver.url));
    await isAsked;
    jest.advanceTimersByTime(15_000);
    expect(await attempted).toEqual(LATE);
  });

  it('an attempt is given up whose TLS handshake gets no answer', async () => {
    const { url, server } = await rawReceiver(() => undefined);
    const isConnected = once(server, 'connection') as Promise<[Socket]>;
    const attempted = newSender().send(message(url.replace('http:', 'https:')));
    const [socket] = await isConnected;
    await once(socket, 'data');
    jest.advanceTimersByTime(15_000);
    const error = 'The TLS handshake failed (nothing within 15 seconds).';
    expect(await attempted).toEqual({ status: null, error });
  });

  it('an attempt is given up that still looks its name up, and what that finds later is not connected to', async () => {
    let find = (_addresses: LookupAddress[]): void => undefined;
    let ask = (): void => undefined;
    const isAsked = new Promise<void>((asked) => (ask = asked));
    const sender = newSender(LOCAL, () => {
      ask();
      return new Promise((found) => (find = found));
    });
    const attempted = sender.send(message(receiver.url.replace('127.0.0.1', 'shop.example')));
    await isAsked;
    jest.advanceTimersByTime(15_000);
    const error = 'The name in the URL could not be looked up.';
    expect(await attempted).toEqual({ status: null, error });
    find(await onlyTo('127.0.0.1')(''));
    await new Promise(setImmediate);
    expect(receiver.connections).toBe(0);
  });
});

it.each(['https', 'HTTPS', 'Https'])('%s in a URL means TLS', async (scheme) => {
  const { url } = await rawReceiver((socket) => socket.end());
  const { error } = await newSender().send(message(url.replace('http', scheme)));
  expect(error).toMatch(/^The TLS handshake failed/);
});

describe('receivers that misbehave', () => {
  async function attempt(serve: (socket: Socket) => void) {
    const { url } = await rawReceiver(serve);
    return newSender().send(message(url));
  }

  const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n';
  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const FLOODED = { status: null, error: 'The response had too many headers.' };
  const TOO_MANY = { status: null, error: 'More than 8 interim responses (1xx) came before a response.' };
  it.each([
    ['a body', CHUNKED, `4000\r\n${'x'.repeat(0x4000)}\r\n`, { status: 200 }],
    ['trailers', `${CHUNKED}0\r\n`, `X: ${'y'.repeat(1_000)}\r\n`, { status: 200 }],
    ['fields', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'.repeat(1_000), FLOODED],
    ['a status', 'HTTP/1.1 200 ', 'O'.repeat(1_000), FLOODED],
    ['100', '', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), TOO_MANY],
    ['103', '', `HTTP/1.1 103 Early Hints\r\nLink: ${'y'.repeat(1_000)}\r\n\r\n`, TOO_MANY],
    ['103 that are long', '', `HTTP/1.1 103 Early Hints\r\nLink: ${'y'.repeat(9_000)}\r\n\r\n`, FLOODED],
  ])(
    'sends %s without end: cut off, and a status that has arrived counts',
    async (_name, begin, more, outcome) => {
      let sent = 0;
      const flood = (socket: Socket): void => {
        socket.write(begin);
        const pump = (): void => {
          while (!socket.destroyed && socket.write(more)) {
            sent += more.length;
          }
        };
        socket.on('drain', pump);
        pump();
      };
      expect(await attempt((socket) => socket.once('data', () => flood(socket)))).toMatchObject(outcome);
      // The sender reads no more than the buffers of the system hold.
      expect(sent).toBeLessThan(20_000_000);
    },
  );

  it.each([
    ['redirects: not followed', 'HTTP/1.1 307 Temporary\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 307],
    ['lies about its length: the status counts', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort', 200],
    ['sends a few interim responses first', `${INTERIM.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`, 204],
  ])('%s', async (_name, text, status) => {
    const answer = (socket: Socket) => socket.once('data', () => socket.end(text));
    expect(await attempt(answer)).toMatchObject({ status });
  });

  it.each([
    ['hangs up', '', 'The connection was closed before a response.'],
    ['has no status', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n', 'The response had an invalid status.'],
    [
      'does not speak HTTP',
      'SSH-2.0-OpenSSH_9.2\r\n',
      'The response could not be read (HPE_INVALID_CONSTANT).',
    ],
    [
      'changes the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'The connection was closed before a response.',
    ],
  ])('%s: a failure with a readable reason', async (_name, text, error) => {
    const answer = (socket: Socket) =>
      socket.once('data', () => (text === '' ? socket.end() : socket.write(text)));
    expect(await attempt(answer)).toEqual({ status: null, error });
  });

  it('refuses the connection at each address: the reason names all of them', async () => {
    const { url, server } = await rawReceiver(() => undefined);
    server.close();
    await once(server, 'close');
    const refused = newSender(new AddressPolicy(['127.0.0.0/8', '::1']));
    const { error } = await refused.send(message(url.replace('127.0.0.1', 'localhost')));
    // The reason does not name internal addresses, which a client must not learn. The second one depends on whether the machine has IPv6.
    expect(error).toMatch(
      /^The connection failed: an internal address refused the connection, an internal \w.*\.$/,
    );
    const named = await refused.send(message(url));
    expect(named.error).toBe('The connection failed: 127.0.0.1 refused the connection.');
  });

  it('closes a kept-alive connection: retried at once', async () => {
    let requests = 0;
    const sender = newSender();
    const { url } = await rawReceiver((socket) => {
      socket.on('data', () => {
        requests += 1;
        // Answers the first request, and resets the connection at the second one.
        if (requests === 2) {
          socket.resetAndDestroy();
        } else {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        }
      });
    });
    expect(await sender.send(message(url))).toMatchObject({ status: 200 });
    expect(await sender.send(message(url))).toMatchObject({ status: 200 });
    expect(requests).toBe(3);
  });
});
