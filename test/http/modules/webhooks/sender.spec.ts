import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer, isIP } from 'node:net';
import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';
import { type FindAddresses, checkedLookup } from '../../../../src/modules/webhooks/delivery/name-lookup';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';
import { Receiver } from '../../../support/receiver';

const LOCAL = new AddressPolicy(['127.0.0.0/8']);
const FORBIDDEN = { status: null, error: 'The URL leads to an address that webhooks may not be sent to.' };
const message = (url: string) => ({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' });

/** Every name has these addresses. */
const onlyTo =
  (...addresses: string[]): FindAddresses =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));

/** Resolves to a receiver that is a bare socket, for what no HTTP server would send. */
async function rawReceiver(serve: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe('forbidden addresses', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.stop());

  it('a name is resolved and checked at each attempt (DNS rebinding)', async () => {
    let asked = 0;
    const policy = new AddressPolicy(['127.0.0.1']);
    const sender = new Sender(policy, (name) => {
      asked += 1;
      return onlyTo(`127.0.0.${asked}`)(name);
    });
    receiver.answer = (response) => response.writeHead(204, { Connection: 'close' }).end();
    const url = receiver.url.replace('127.0.0.1', 'shop.example');
    expect(await sender.send(message(url))).toMatchObject({ status: 204 });
    expect(await sender.send(message(url))).toEqual(FORBIDDEN);
    expect([asked, receiver.received.length]).toEqual([2, 1]);
    sender.close();
  });

  // Every spelling stands in test/unit/modules/webhooks/address-policy.spec.ts.
  it.each(['127.0.0.1', 'localhost'])('%s in the table is checked as well', async (host) => {
    const sender = new Sender(new AddressPolicy([]));
    expect(await sender.send(message(`https://${host}:8443/`))).toEqual(FORBIDDEN);
    sender.close();
  });
});

it('Of the addresses of a name, two of each family at most are tried, after the check', async () => {
  const all = '10.0.0.1 1.1.0.0 1.1.0.1 1.1.0.2 ::1 2606:4700::1 2606:4700::2 2606:4700::3'.split(' ');
  const lookup = checkedLookup(onlyTo(...all), new AddressPolicy([]), 'https:');
  const found = await new Promise<LookupAddress[]>((done) =>
    lookup('shop.example', { all: true }, (_error, addresses) => done(addresses as LookupAddress[])),
  );
  const tried = '1.1.0.0 1.1.0.1 2606:4700::1 2606:4700::2';
  expect(found.map(({ address }) => address).join(' ')).toBe(tried);
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
    const sender = new Sender(LOCAL);
    const isAsked = new Promise<void>((asked) => (receiver.answer = () => asked()));
    const attempted = sender.send(message(receiver.url));
    await isAsked;
    jest.advanceTimersByTime(15_000);
    expect(await attempted).toEqual(LATE);
    sender.close();
  });

  it('an attempt is given up that still looks its name up, and what that finds later is not connected to', async () => {
    let find = (_addresses: LookupAddress[]): void => undefined;
    let ask = (): void => undefined;
    const isAsked = new Promise<void>((asked) => (ask = asked));
    const sender = new Sender(LOCAL, () => {
      ask();
      return new Promise((found) => (find = found));
    });
    const attempted = sender.send(message(receiver.url.replace('127.0.0.1', 'shop.example')));
    await isAsked;
    jest.advanceTimersByTime(15_000);
    expect(await attempted).toEqual(LATE);
    find(await onlyTo('127.0.0.1')(''));
    await new Promise(setImmediate);
    expect(receiver.connections).toBe(0);
    sender.close();
  });
});

describe('receivers that misbehave', () => {
  const sender = new Sender(LOCAL);
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    sockets.splice(0).forEach((socket) => socket.destroy());
    servers.splice(0).forEach((server) => server.close());
  });
  afterAll(() => sender.close());

  async function attempt(serve: (socket: Socket) => void) {
    const { url, server } = await rawReceiver((socket) => {
      sockets.push(socket);
      serve(socket);
    });
    servers.push(server);
    return sender.send(message(url));
  }

  it('floods: the body is cut off, the status counts', async () => {
    let sent = 0;
    const flood = (socket: Socket): void => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const pump = (): void => {
        while (!socket.destroyed && socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`)) {
          sent += 0x4000;
        }
      };
      socket.on('drain', pump);
      pump();
    };
    expect(await attempt((socket) => socket.once('data', () => flood(socket)))).toMatchObject({
      status: 200,
    });
    // What the system's buffers hold, and no more.
    expect(sent).toBeLessThan(20_000_000);
  });

  it.each([
    ['redirects: not followed', 'HTTP/1.1 307 Temporary\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 307],
    ['lies about its length: the status counts', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort', 200],
  ])('%s', async (_name, text, status) => {
    const answer = (socket: Socket) => socket.once('data', () => socket.end(text));
    expect(await attempt(answer)).toMatchObject({ status });
  });

  it.each([
    ['hangs up', '', 'The connection was closed before a response.'],
    [
      'sends endless headers',
      `HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(1_000)}\r\n`.repeat(100)}`,
      'The response had too many headers.',
    ],
    ['has no status', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n', 'The response had an invalid status.'],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'The connection failed (HPE_INVALID_CONSTANT).'],
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

  it('refuses the connection: a failure that does not reveal its address', async () => {
    const { url, server } = await rawReceiver(() => undefined);
    server.close();
    await once(server, 'close');
    expect(await sender.send(message(url))).toEqual({ status: null, error: 'The connection was refused.' });
  });

  it('closes a kept-alive connection: retried at once', async () => {
    let requests = 0;
    const { url, server } = await rawReceiver((socket) => {
      sockets.push(socket);
      socket.on('data', () => {
        requests += 1;
        // Answers the first request of a connection, and resets at the second.
        if (requests === 2) {
          socket.resetAndDestroy();
        } else {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        }
      });
    });
    servers.push(server);
    expect(await sender.send(message(url))).toMatchObject({ status: 200 });
    expect(await sender.send(message(url))).toMatchObject({ status: 200 });
    expect(requests).toBe(3);
  });
});
