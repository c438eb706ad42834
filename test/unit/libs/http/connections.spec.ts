import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type Socket, connect } from 'node:net';
import {
  AccountedRequest,
  AccountedResponse,
  Connections,
  type ConnectionsOptions,
  disconnectSignalOf,
} from '#libs/http';
import { listen } from '../../../support/ports';
import { RawConnection } from '../../../support/raw-http';

const GET = 'GET / HTTP/1.1\r\nHost: shop\r\n\r\n';
/** After this time, a connection without a request is closed. Time passes only if a test moves it. */
const GRACE_MS = 1_000;
const PATIENCE_MS = 10_000;

const CLASSES = { IncomingMessage: AccountedRequest, ServerResponse: AccountedResponse };

/** The greatest number of open connections. */
const MAX = 8;

let server: Server<typeof AccountedRequest, typeof AccountedResponse>;
let port: number;
let connections: Connections;
/** The answers that the test has not given yet, in the order of their requests. */
let pending: AccountedResponse[];
let opened: RawConnection[];
/** The caller of the next connections. */
let caller: string | undefined;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
  [pending, opened, caller] = [[], [], undefined];
  await serve();
});

/** Starts the server of the test. A test that needs other options calls this again, before it opens a connection. */
async function serve(options: Partial<ConnectionsOptions> = {}): Promise<void> {
  server?.close();
  server = createServer(CLASSES);
  // This is longer than any test waits, so that only the tested class closes connections.
  server.keepAliveTimeout = 60_000;
  connections = new Connections(server, {
    handle: (_request, answer) => {
      pending.push(answer);
      server.emit('asked');
    },
    callerNameOf: () => caller,
    ...options,
  });
  server.maxConnections = MAX;
  port = await listen(server);
}

afterEach(() => {
  opened.forEach((connection) => connection.close());
  server.close();
  server.closeAllConnections();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

async function open(): Promise<RawConnection> {
  const accepted = once(server, 'connection');
  const connection = await RawConnection.open(port);
  await accepted;
  opened.push(connection);
  return connection;
}

/** Sends this many requests, and waits until all have started. */
async function ask(connection: RawConnection, count = 1): Promise<void> {
  const before = pending.length;
  connection.write(GET.repeat(count));
  while (pending.length < before + count) {
    await once(server, 'asked');
  }
}

/** Sends this many requests, and waits until the first has started. The others wait for its answer. */
async function pipeline(connection: RawConnection, count: number): Promise<void> {
  const first = once(server, 'asked');
  connection.write(GET.repeat(count));
  await first;
}

describe('Pipelined requests', () => {
  it('never start once the connection is lost', async () => {
    const connection = await open();
    await pipeline(connection, 2);
    const lost = once(pending[0]!, 'close');
    connection.reset();
    await lost;
    await new Promise(setImmediate);
    expect([pending.length, connections.open]).toEqual([1, 0]);
  });

  it('are all answered, also if the caller closes the sending side', async () => {
    const connection = await open();
    await pipeline(connection, 2);
    connection.end();
    await once(disconnectSignalOf(pending[0]!.req.socket), 'abort');
    const second = once(server, 'asked');
    pending[0]!.end('first');
    await second;
    pending[1]!.end('second');
    const answers = [await connection.answer(), await connection.answer()];
    expect(answers.map(({ text, headers }) => [text, headers.connection])).toEqual([
      ['first', 'keep-alive'],
      ['second', 'close'],
    ]);
    await connection.closed();
  });

  const LONG = GET.replace('\r\n\r\n', `\r\nX-Long: ${'y'.repeat(1_000)}\r\n\r\n`);

  it('are no longer read while 16 wait, and are all answered in their order', async () => {
    const [count, accepted] = [2_000, once(server, 'connection') as Promise<[Socket]>];
    const connection = await open();
    const [socket] = await accepted;
    const first = once(server, 'asked');
    connection.write(LONG.repeat(count));
    await first;
    await new Promise(setImmediate);
    expect(socket.bytesRead).toBeLessThan(count * LONG.length);
    server.on('asked', () => pending.at(-1)!.end(`${pending.length}`));
    pending[0]!.end('1');
    for (let index = 1; index <= count; index += 1) {
      expect((await connection.answer()).text).toBe(`${index}`);
    }
  });

  it('are refused beyond 128 of a packet if too many of all connections arrive in a second', async () => {
    const now = jest.spyOn(performance, 'now');
    // The responses come after the whole packet is parsed.
    await serve({
      maxMoreInSecond: 100,
      handle: (_request, response) => void setImmediate(() => response.end()),
    });
    // The first request of a packet does not wait, 128 others may always wait, and 100 more in each second.
    for (const [time, sent, answered] of [
      [5_000, 300, 1 + 128 + 100],
      [5_999, 200, 1 + 128],
      [6_000, 200, 200],
    ] as const) {
      now.mockReturnValue(time);
      const connection = await open();
      connection.write(GET.repeat(sent));
      for (let count = 0; count < answered; count += 1) {
        expect([time, count, (await connection.answer()).status]).toEqual([time, count, 200]);
      }
      if (answered < sent) {
        const refusal = await connection.answer();
        expect(refusal).toMatchObject({ status: 400, headers: { connection: 'close' } });
        expect(JSON.parse(refusal.text)).toEqual({
          code: 'bad_request',
          message:
            'Too many requests arrived at once. Send at most 128 requests before the first response arrives.',
          status: 400,
        });
        connection.write(GET);
        await connection.closed();
      }
    }
  });
});

describe('What is not answered yet is bounded in bytes', () => {
  const post = 'POST / HTTP/1.1\r\nHost: shop\r\n';
  const waiting = GET.replace('\r\n\r\n', `\r\nX-Long: ${'y'.repeat(4_000)}\r\n\r\n`);
  const fields = 'ab:\r\n'.repeat(3_000);

  it.each([
    ['requests that wait', GET + waiting.repeat(12)],
    ['header sections that are not complete', GET.slice(0, -2) + fields],
    ['requests in progress with many fields', `${GET.slice(0, -2)}${fields}\r\n`],
    ['bodies', `${post}Content-Length: 65536\r\n\r\n${'x'.repeat(65_000)}`],
    ['trailers', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n${fields}`],
  ])('%s: beyond it, only connections that hold most are closed', async (_what, bytes) => {
    await serve({ maxHeldBytes: 300_000 });
    const [small, large] = [[await open(), await open()], [] as RawConnection[]];
    for (const connection of small) await pipeline(connection, 2);
    while (large.length < MAX - small.length) {
      large.push(await open());
      large.at(-1)!.write(bytes);
    }
    while (connections.open === MAX) await new Promise(setImmediate);
    expect(connections.open).toBeGreaterThan(small.length);
    server.on('asked', () => pending.at(-1)!.end('second'));
    const answers = pending.slice(0, small.length);
    for (const [index, connection] of small.entries()) {
      answers[index]!.end('first');
      expect([(await connection.answer()).text, (await connection.answer()).text]).toEqual([
        'first',
        'second',
      ]);
    }
  });

  it.each([
    ['in English', 'x', 16_000_000],
    ['in Chinese', '猫', 9_600_000],
  ])('responses %s that nobody reads', async (_language, character, length) => {
    await serve({ maxHeldBytes: 100_000_000 });
    const unread = Array.from({ length: 4 }, () => connect(port).pause());
    for (const [index, socket] of unread.entries()) {
      socket.write(GET);
      await once(server, 'asked');
      pending[index]!.end(character.repeat(length));
    }
    expect(connections.open).toBe(2);
    unread.forEach((socket) => socket.destroy());
  });

  it('and each caller holds at most half of it', async () => {
    await serve({ maxHeldBytes: 600_000 });
    const other = await open();
    await ask(other);
    caller = 'a';
    while (connections.open === opened.length) {
      (await open()).write(GET.slice(0, -2) + fields);
      await new Promise(setImmediate);
    }
    expect(opened.length).toBeLessThan(6);
    pending[0]!.end('still there');
    expect((await other.answer()).text).toBe('still there');
  });
});

test('One caller has at most half of the connections; others and those without an caller get the rest', async () => {
  caller = 'a';
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const first = await open();
  const [socket] = await accepted;
  for (let index = 1; index < MAX / 2; index += 1) await open();
  await (await open()).closed();
  for (const other of ['b', undefined]) {
    caller = other;
    await ask(await open());
  }
  caller = 'a';
  first.close();
  await once(socket, 'close');
  await ask(await open());
});

it('Once the shutdown is announced pipelined requests are all answered, and the last response closes the connection', async () => {
  const connection = await open();
  await pipeline(connection, 2);
  connections.announceEnd();
  pending[0]!.end('done');
  await once(server, 'asked');
  pending[1]!.end('done');
  const fields = [await connection.answer(), await connection.answer()];
  expect(fields.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'close']);
  await connection.closed();
});

describe('The end', () => {
  it('takes no new connections, and answers a request on a connection that was unused', async () => {
    const unused = await open();
    const ended = connections.end(PATIENCE_MS);
    await expect(RawConnection.open(port)).rejects.toThrow('ECONNREFUSED');
    await ask(unused);
    pending[0]!.end('still served');
    expect(await unused.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await ended;
    expect(connections.open).toBe(0);
    // Without any connection, the end comes at once.
    await connections.end(PATIENCE_MS);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closes idle connections, and waits for requests in progress', async () => {
    const [silent, asking] = [await open(), await open()];
    await ask(asking);
    let over = false;
    const ended = connections.end(PATIENCE_MS).then(() => (over = true));
    jest.advanceTimersByTime(GRACE_MS);
    await silent.closed();
    expect(over).toBe(false);
    pending[0]!.end('late');
    expect(await asking.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await ended;
  });

  it('closes after a response whose headers were already sent', async () => {
    const connection = await open();
    await ask(connection);
    pending[0]!.setHeader('Content-Length', 4).flushHeaders();
    const silent = await open();
    const ended = connections.end(PATIENCE_MS);
    jest.advanceTimersByTime(GRACE_MS);
    // The end of the unused connection shows that the grace period is over.
    await silent.closed();
    const sent = once(pending[0]!, 'close');
    pending[0]!.end('late');
    expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    await sent;
    jest.advanceTimersByTime(GRACE_MS);
    await connection.closed();
    await ended;
  });

  it('aborts what exceeds its timeout', async () => {
    const connection = await open();
    await ask(connection);
    const ended = connections.end(PATIENCE_MS);
    jest.advanceTimersByTime(PATIENCE_MS);
    await connection.closed();
    await ended;
  });
});
