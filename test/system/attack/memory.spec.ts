import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { insertUnlimitedKey } from '../../support/test-database';
import { within } from '../../support/eventually';
import { requestText } from '../../support/raw-http';
import { type ServiceProcess, useProcesses } from '../../support/service-process';

/** The memory that the container files allow one process. */
const MAX_MEGABYTES = 512;
/**
 * The limits that Node sets for its heap if it has 512 MB, as in such a container. On a machine with more memory, its heap would be
 * larger; for example, Node 24 would keep 128 MB of new objects.
 */
const HEAP = '--max-old-space-size=256 --max-semi-space-size=1';
/** How many connections are opened at once. Every system accepts so many. */
const AT_ONCE = 200;

const { processes, database } = useProcesses();
let victim: ServiceProcess;
let key: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  victim = await processes.serve({ DATABASE_URL: database.url, LOG_LEVEL: 'info', NODE_OPTIONS: HEAP });
  key = await insertUnlimitedKey(database.url);
  // From now on, nobody reads the log.
  victim.child.stdout.pause();
});

afterAll(() => {
  sockets.forEach((socket) => socket.destroy());
  victim.child.stdout.resume();
});

/**
 * Expects that a valid client is served as usual. It opens a new connection, so that the service has accepted all earlier connections
 * when the response comes.
 */
async function served(): Promise<void> {
  const answer = await victim.send(key, 'GET', '/pets', undefined, { Connection: 'close' });
  expect([answer.status, await answer.text()]).toEqual([200, '[]']);
}

function peakMegabytes(): number {
  const status = readFileSync(`/proc/${victim.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1_024;
}

function openSockets(count: number, localAddress: string): Socket[] {
  const address = { port: Number(new URL(victim.url).port), host: '127.0.0.1', localAddress };
  const opened = Array.from({ length: count }, () =>
    connect(address)
      .on('error', () => undefined)
      .pause(),
  );
  sockets.push(...opened);
  return opened;
}

/** Writes the text on this many new connections, from several addresses, and reads nothing. */
async function flood(count: number, text: string): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const localAddress = `127.0.0.${2 + ((opened / AT_ONCE) % 5)}`;
    const some = openSockets(Math.min(AT_ONCE, count - opened), localAddress);
    await within('connections', Promise.all(some.map((socket) => once(socket, 'connect'))));
    await served();
    some.forEach((socket) => socket.write(text));
    // The service does not read on while nobody reads its response, so this waits until it reads nothing more.
    const unsent = () => some.reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (let before = -1; before !== unsent();) {
      before = unsent();
      await served();
    }
  }
}

const FIELDS = 'ab:\r\n'.repeat(8_000);
const head = (line: string, ...fields: string[]) => requestText(line, fields).slice(0, -2);
const chunked = requestText('POST /pets', ['Content-Type: application/json', 'Transfer-Encoding: chunked']);
const unread = requestText('GET /docs/scalar.js');

// If a process kept all of this in memory, each attack would take at least 200 MB, and all together 2 GB.
it.each([
  ['connections that send nothing', 6_500, ''],
  ['responses that nobody reads', 400, unread],
  ['header sections that are not complete', 800, head('GET /health/live') + FIELDS],
  ['one long field', 1_000, `${head('GET /health/live')}a: ${'x'.repeat(15_000)}`],
  [
    'bodies that are not complete',
    800,
    `${requestText('POST /pets', ['Content-Length: 65536'])}${'x'.repeat(65_000)}`,
  ],
  ['bodies in chunks of a byte', 10, chunked + '1\r\nx\r\n'.repeat(60_000)],
  ['trailers', 400, `${chunked}1\r\nx\r\n0\r\n${FIELDS}`],
  [
    'requests with long fields that wait',
    400,
    unread + requestText('GET /', [`X: ${'y'.repeat(4_000)}`]).repeat(15),
  ],
  ['requests with many fields that wait', 30, unread + `${head('GET /')}${FIELDS}\r\n`.repeat(15)],
  ['short requests that wait', 100, unread + 'GET / HTTP/1.1\r\n\r\n'.repeat(3_500)],
  ['bodies that wait', 20, unread + chunked + '1\r\nx\r\n'.repeat(60_000)],
])('%s, after all before, fit into the memory of a container', async (_what, count, text) => {
  await flood(count, text);
  expect(peakMegabytes()).toBeLessThan(MAX_MEGABYTES);
});

it('A new connection waits for a process that is busy, also behind a thousand others', async () => {
  const longest = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  // When the response comes, no connection of an earlier test is left in the queue.
  await served();
  victim.child.kill('SIGSTOP');
  const waiting = openSockets(Math.min(1_000, longest), '127.0.0.7');
  await within('connections', Promise.all(waiting.map((socket) => once(socket, 'connect')))).finally(() =>
    victim.child.kill('SIGCONT'),
  );
  await served();
});
