import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connections } from '#libs/http';
import {
  UnsentResponses,
  isCrowded,
  startInTurn,
  trackResponses,
} from '../../../../libs/http/src/connections';
import { until } from '../../../support/eventually';
import { RawConnection } from '../../../support/raw-http';
import { pendingTimers } from '../../../support/pending-timers';

const GET = 'GET / HTTP/1.1\r\nHost: shop\r\n\r\n';
/** What is closed for want of a request has waited this long; time passes only where a test says so. */
const GRACE_MS = 1_000;
const PATIENCE_MS = 10_000;

let server: Server;
let connections: Connections;
/** Answers that the test still has to give, in the order of their requests. */
let pending: ServerResponse[];
let opened: RawConnection[];

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
  [pending, opened] = [[], []];
  server = createServer((_request, answer) => {
    pending.push(answer);
    server.emit('asked');
  });
  // Longer than any test waits: what is closed is closed by what is tested.
  server.keepAliveTimeout = 60_000;
  trackResponses(server);
  connections = new Connections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  opened.forEach((connection) => connection.close());
  server.close();
  server.closeAllConnections();
  jest.useRealTimers();
});

async function open(): Promise<RawConnection> {
  const accepted = once(server, 'connection');
  const connection = await RawConnection.open((server.address() as AddressInfo).port);
  await accepted;
  opened.push(connection);
  return connection;
}

/** Sends as many requests as there are texts of them, and waits until they have arrived. */
async function ask(connection: RawConnection, count = 1): Promise<void> {
  const before = pending.length;
  connection.write(GET.repeat(count));
  while (pending.length < before + count) {
    await once(server, 'asked');
  }
}

test('Requests that waited on lost connections make room for others', async () => {
  let crowded = false;
  server.on('request', ({ socket }: IncomingMessage) => {
    crowded = isCrowded(socket);
    startInTurn(socket, () => undefined);
  });
  // More than may wait over all connections.
  const lost = [await open(), await open(), await open()];
  for (const connection of lost) await ask(connection, 1_000);
  const other = await open();
  await ask(other, 2);
  expect(crowded).toBe(true);
  [...lost, other].forEach((connection) => connection.close());
  await until(() => connections.open === 0);
  await ask(await open(), 2);
  expect(crowded).toBe(false);
});

test('Open connections are counted', async () => {
  const [asking] = [await open(), await open()];
  await ask(asking);
  expect(connections.open).toBe(2);
});

describe('Once the shutdown is announced', () => {
  it('each response closes its connection, even for requests in progress, and new connections are accepted', async () => {
    const before = await open();
    await ask(before);
    connections.announceEnd();
    const after = await open();
    await ask(after);
    pending.forEach((answer) => answer.end('done'));
    for (const connection of [before, after]) {
      expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
      await connection.closed();
    }
  });

  it('pipelined requests are all answered, and the last response closes the connection', async () => {
    const connection = await open();
    await ask(connection, 2);
    connections.announceEnd();
    await ask(connection, 1);
    pending.forEach((answer) => answer.end('done'));
    const fields = [await connection.answer(), await connection.answer(), await connection.answer()];
    expect(fields.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close']);
    await connection.closed();
  });
});

describe('The end', () => {
  it('takes no new connections, and answers a request on a connection that was unused', async () => {
    const unused = await open();
    const { port } = server.address() as AddressInfo;
    const ended = connections.end(PATIENCE_MS);
    await expect(RawConnection.open(port)).rejects.toThrow('ECONNREFUSED');
    await ask(unused);
    pending[0]!.end('still served');
    expect(await unused.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await ended;
    expect(connections.open).toBe(0);
    // With nothing connected it is there at once.
    await connections.end(PATIENCE_MS);
    expect(pendingTimers(PATIENCE_MS)).toBe(0);
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
    expect((await asking.answer()).status).toBe(200);
    await ended;
  });

  it('closes after a response whose headers were already sent', async () => {
    const connection = await open();
    await ask(connection);
    pending[0]!.setHeader('Content-Length', 4).flushHeaders();
    const silent = await open();
    const ended = connections.end(PATIENCE_MS);
    jest.advanceTimersByTime(GRACE_MS);
    // Its end tells that unused connections are being closed by now.
    await silent.closed();
    pending[0]!.end('late');
    expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
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

const MIB = 'x'.repeat(1024 * 1024);

let closed: string[];
let unsent: UnsentResponses;

beforeEach(() => {
  closed = [];
  unsent = new UnsentResponses();
});

/** A response that is pending until its connection is closed, or until it is sent. */
function respond(client: number, name: string, body = MIB): { sent: () => void } {
  const response = new EventEmitter();
  const destroy = () => {
    closed.push(name);
    response.emit('close');
  };
  Object.assign(response, { req: { socket: { destroy } } });
  unsent.hold(client, response as ServerResponse, body);
  return { sent: () => void response.emit('close') };
}

test('A client may leave 16 MiB unread; above, its oldest responses are given up', () => {
  for (let count = 1; count <= 16; count += 1) {
    respond(1, `${count}`);
    respond(2, `another's ${count}`);
  }
  expect(closed).toEqual([]);
  respond(1, '17');
  respond(1, '18');
  expect(closed).toEqual(['1', '2']);
});

test('What has been sent does not count', () => {
  for (let count = 1; count <= 40; count += 1) {
    respond(1, `${count}`).sent();
  }
  expect(closed).toEqual([]);
});
