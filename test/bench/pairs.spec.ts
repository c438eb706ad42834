import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { service } from './contenders';
import type { LoadTool } from './harness/load';
import { type Measured, compare, inOrder } from './harness/pairs';
import { FEW_PETS } from './harness/databases';
import type { RunningContender } from './harness/start-contender';

const SERVICE = service('.');
const { signal } = new AbortController();

/** A contender of a few lines: what it answers, and what it tells of the limits. */
class FakeContender {
  static readonly LIMIT = 1_000;
  requests = 0;
  status = 200;
  body: unknown = { id: 1, name: 'Pet 1', categoryId: 1, status: 'available' };
  /** How many requests it counts for each that it answers. */
  countsEach = 1;
  withHeaders = true;
  private readonly server: Server = createServer((_request, response) => {
    this.requests += 1;
    const headers = Object.fromEntries(SERVICE.headers.map((name) => [name, '1']));
    headers['x-ratelimit-remaining'] = String(FakeContender.LIMIT - this.requests * this.countsEach);
    response.writeHead(this.status, {
      ...(this.withHeaders ? headers : { 'x-ratelimit-remaining': headers['x-ratelimit-remaining'] }),
      ...(this.status === 429 ? { 'Retry-After': '60' } : {}),
    });
    response.end(JSON.stringify(this.body));
  });

  constructor(readonly name: string) {}

  async start(): Promise<RunningContender> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    const addresses = { url: `http://127.0.0.1:${port}`, databaseUrl: '', metricsUrl: '' };
    const keys = { apiKey: 'key', otherKey: 'other' };
    return { ...SERVICE, ...addresses, ...keys, name: this.name, pid: 0, pets: FEW_PETS, signal };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

const ANSWERS = 5;
let subject: FakeContender;
let peer: FakeContender;
/** Who was loaded, in turn. */
let order: string[];

/** Sends a few requests and claims that the subject answered twice as fast. */
const fakeTool: LoadTool = async ({ url, workload: { requests } }) => {
  for (let sent = 0; sent < ANSWERS; sent += 1) {
    await (await fetch(url + requests[0]!.path)).arrayBuffer();
  }
  await nextTurn();
  const isSubject = url === (await subjectStarted).url;
  order.push(isSubject ? 'subject' : 'peer');
  const requestsPerSecond = isSubject ? 2_000 : 1_000;
  return { requestsPerSecond, p50Ms: 1, p99Ms: 2, answers: ANSWERS, complaints: [] };
};

let subjectStarted: Promise<RunningContender>;
let peerStarted: Promise<RunningContender>;

beforeEach(() => {
  subject = new FakeContender('subject');
  peer = new FakeContender('peer');
  order = [];
  subjectStarted = subject.start();
  peerStarted = peer.start();
});

afterEach(() => Promise.all([subject.stop(), peer.stop()]));

async function comparison(name: 'get-pet' | 'too-many-requests' = 'get-pet'): Promise<Measured> {
  const driving = { tool: fakeTool, connections: 2, seconds: 1, folder: '/nonexistent', signal };
  return compare(await subjectStarted, [await peerStarted], name, {
    pairs: 3,
    warmUpSeconds: 1,
    driving,
    onRun: () => undefined,
  });
}

it('runs in pairs, alternating the order, after warming up both', async () => {
  await comparison();
  expect(order).toEqual(['subject', 'peer', 'subject', 'peer', 'peer', 'subject', 'subject', 'peer']);
});

it('lets each of three contenders run first and last equally often', () => {
  const rounds = Array.from({ length: 6 }, (_none, round) => inOrder(['a', 'b', 'c'], round).join(''));
  expect(rounds).toEqual(['abc', 'acb', 'cab', 'cba', 'bca', 'bac']);
});

it('compares the runs of a pair with each other', async () => {
  const { comparisons, discarded } = await comparison();
  expect({ comparisons, discarded }).toMatchObject({
    comparisons: [{ peer: 'peer', pairs: 3 }],
    discarded: [],
  });
  expect(comparisons[0]?.figures?.ratio).toEqual({ median: 2, min: 2, max: 2 });
});

it.each<[string, (fake: FakeContender) => void, RegExp]>([
  ['another status', (fake) => (fake.status = 503), /^peer: answered 503 instead of 200/],
  ['another body', (fake) => (fake.body = { id: 2 }), /^peer: answered another body/],
  ['an answer without its header fields', (fake) => (fake.withHeaders = false), /^peer: the answer lacks/],
  [
    'a Remaining that does not move',
    (fake) => (fake.countsEach = 0),
    /^peer: Remaining went down by -1 for 5/,
  ],
  [
    'a Remaining that falls too fast',
    (fake) => (fake.countsEach = 2),
    /^peer: Remaining went down by 11 for 5/,
  ],
])('discards a pair with %s', async (_what, spoil, complaint) => {
  spoil(peer);
  const { comparisons, discarded } = await comparison();
  expect(comparisons).toEqual([{ peer: 'peer', pairs: 0 }]);
  expect(discarded).toContainEqual(expect.stringMatching(complaint));
});

it('counts refusals as correct responses where refusals are measured', async () => {
  for (const fake of [subject, peer]) {
    fake.status = 429;
    fake.body = { code: 'rate_limit_exceeded', message: 'Too many.', status: 429 };
  }
  expect(await comparison('too-many-requests')).toMatchObject({ comparisons: [{ pairs: 3 }], discarded: [] });
});
