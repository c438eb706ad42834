import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer, isIP } from 'node:net';
import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';
import { type FindAddresses, checkedLookup } from '../../../../src/modules/webhooks/delivery/name-lookup';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';
import { Receiver } from '../../../support/receiver';

const LOCAL = new AddressPolicy(['127.0.0.0/8']);
const FORBIDDEN = { status: null, failure: 'The URL leads to an address that webhooks may not be sent to.' };
const message = (url: string) => ({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' });

/** Every name has these addresses. */
const onlyTo =
  (...addresses: string[]): FindAddresses =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));

/** Resolves to a receiver that is a bare socket, for what no HTTP server would send. */
async function rawReceiver(
  serve: (socket: Socket) => void,
): Promise<{ url: string; server: Server; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    server,
    connections: () => connections,
  };
}

describe('forbidden addresses', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.stop());

  it('a name that resolves to an internal address is not connected to', async () => {
    const port = new URL(receiver.url).port;
    const before = receiver.connections;
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
      const sender = new Sender(new AddressPolicy([]), onlyTo(address));
      expect(await sender.send(message(`https://shop.example:${port}/`))).toEqual(FORBIDDEN);
      sender.close();
    }
    expect(receiver.connections).toBe(before);
  });

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
    expect(asked).toBe(2);
    sender.close();
  });

  // Every spelling stands in test/unit/modules/webhooks/address-policy.spec.ts.
  it.each(['127.0.0.1', 'localhost'])('%s in the table is checked as well', async (host) => {
    const sender = new Sender(new AddressPolicy([]));
    expect(await sender.send(message(`https://${host}:8443/`))).toEqual(FORBIDDEN);
    sender.close();
  });
});

describe('The addresses of a name', () => {
  const policy = new AddressPolicy([]);
  const addressesOf = (find: FindAddresses) =>
    new Promise((done) => {
      checkedLookup(find, policy, 'https:')('shop.example', { all: true }, (error, found) =>
        done(error?.code ?? (found as LookupAddress[]).map(({ address }) => address)),
      );
    });

  it('that are tried are two of each family at most, after the check', async () => {
    const four = [
      '10.0.0.1',
      ...Array.from({ length: 2_000 }, (_none, index) => `1.1.${index >> 8}.${index & 255}`),
    ];
    const six = ['::1', '2606:4700::1', '2606:4700::2', '2606:4700::3'];
    expect(await addressesOf(onlyTo(...four, ...six))).toEqual([
      '1.1.0.0',
      '1.1.0.1',
      '2606:4700::1',
      '2606:4700::2',
    ]);
  });
});

let sender: Sender | undefined;

it('The fifteen seconds of an attempt include DNS, and what it answers later is not connected to', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const receiver = await Receiver.start();
  try {
    let answer = (_addresses: string[]): void => undefined;
    const asked = new Promise<void>((isAsked) => {
      sender = new Sender(LOCAL, () => {
        isAsked();
        return new Promise((done) => {
          answer = (addresses) => void onlyTo(...addresses)('').then(done);
        });
      });
    });
    const attempted = sender!.send(message(receiver.url.replace('127.0.0.1', 'shop.example')));
    await asked;
    jest.advanceTimersByTime(15_000);
    expect(await attempted).toEqual({ status: null, failure: 'There was no response within 15 seconds.' });
    answer(['127.0.0.1']);
    await new Promise(setImmediate);
    expect(receiver.connections).toBe(0);
  } finally {
    jest.useRealTimers();
    sender?.close();
    await receiver.stop();
  }
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
  ])('%s: a failure with a readable reason', async (_name, text, failure) => {
    const answer = (socket: Socket) =>
      socket.once('data', () => (text === '' ? socket.end() : socket.write(text)));
    expect(await attempt(answer)).toEqual({ status: null, failure });
  });

  it('refuses the connection: a failure that does not reveal its address', async () => {
    const { url, server } = await rawReceiver(() => undefined);
    server.close();
    await once(server, 'close');
    expect(await sender.send(message(url))).toEqual({ status: null, failure: 'The connection was refused.' });
  });

  it('never responds: given up after 15 seconds', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      let accepted = (): void => undefined;
      const isAccepted = new Promise<void>((resolve) => (accepted = resolve));
      const attempted = attempt((socket) => socket.once('data', () => accepted()));
      await isAccepted;
      jest.advanceTimersByTime(15_000);
      expect(await attempted).toEqual({ status: null, failure: 'There was no response within 15 seconds.' });
    } finally {
      jest.useRealTimers();
    }
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
