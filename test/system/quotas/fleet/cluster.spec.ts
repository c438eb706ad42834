import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LimitedCaller } from '../../../../src/modules/quotas/counters/quota-counters';
import type { RedisCounters } from '../../../../src/modules/quotas/counters/redis-counters';
import { until } from '../../../support/eventually';
import { ManualClock } from '../../../support/manual-clock';
import { patient } from '../../../support/redis-clock';
import { RedisServer, freePort } from '../../../support/redis-server';
import { tally } from '../../../support/spread';
import { aClient, closeCounters, startCounters } from './support/counters';

const LIMIT = 60;
/** Of the limit, for either of the two instances. */
const SHARE = 30;

const NODES = 3;
const SLOTS = 16_384;
/** After so long a silence the others take a node for dead. */
const NODE_TIMEOUT_MS = 3_000;

/** A real Redis Cluster of three masters without replicas, whose nodes a test may stop. */
class RedisCluster {
  private constructor(readonly nodes: RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    for (let index = 0; index < NODES; index += 1) {
      const ports = ['--cluster-port', String(await freePort())];
      const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
      nodes.push(await RedisServer.start(['--cluster-enabled', 'yes', ...ports, ...timeout]));
    }
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
    const cluster = new RedisCluster(nodes);
    await cluster.untilWhole();
    return cluster;
  }

  /** The node that holds a key. */
  async holderOf(key: string): Promise<RedisServer> {
    const slot = Number(await this.nodes[0]!.call('CLUSTER', 'KEYSLOT', key));
    return this.nodes[Math.floor((slot * NODES) / SLOTS)]!;
  }

  /** The ids of a node's connections. */
  async connectionsOf(node: RedisServer): Promise<string[]> {
    const list = await node.call('CLIENT', 'LIST');
    return [...String(list).matchAll(/^id=(\d+)/gm)].map(([, id]) => id!);
  }

  /** Waits until every node serves: for some seconds after a node is back, the others refuse all requests. */
  async untilWhole(): Promise<void> {
    for (const node of this.nodes) {
      await until(async () => String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
  }
}

const clock = new ManualClock();
let cluster: RedisCluster;

beforeAll(async () => void (cluster = await RedisCluster.start()));
afterEach(closeCounters);
afterAll(() => cluster?.close());

/** Starts the counters of two instances of the service. */
const startPair = (url: string) => Promise.all([startCounters(url, clock), startCounters(url, clock)]);

/** A new client whose counts this node holds. */
async function aClientOf(node: RedisServer): Promise<LimitedCaller> {
  for (;;) {
    const client = aClient({ perMinute: LIMIT, perDay: 1_000 });
    if ((await cluster.holderOf(`petstore:{${client.tracker}}:counts`)) === node) return client;
  }
}

/** How many requests of each outcome there are, of that many at once of the client at each instance. */
async function outcomes(pair: RedisCounters[], client: LimitedCaller, requests: number) {
  const taken = pair.flatMap((counters) => Array.from({ length: requests }, () => counters.take(client)));
  return tally((await Promise.all(taken)).map(({ outcome }) => outcome));
}

async function expectExact(pair: RedisCounters[], client: LimitedCaller): Promise<void> {
  expect(await outcomes(pair, client, SHARE + 4)).toEqual({ allowed: LIMIT, limited: 8 });
}

test('while a node of a cluster is silent, the connections to the cluster are replaced', async () => {
  const [node, , silent] = cluster.nodes as [RedisServer, RedisServer, RedisServer];
  const others = await cluster.connectionsOf(node);
  const urls = cluster.nodes.map(({ url }) => `${url}?commandTimeout=200`);
  const impatient = await startPair(urls.join());
  const before = (await cluster.connectionsOf(node)).filter((id) => !others.includes(id));
  expect(before.length).toBeGreaterThan(1);
  silent.pause();
  await until(async () => !(await cluster.connectionsOf(node)).some((id) => before.includes(id)));
  expect(impatient.map(({ isDegraded }) => isDegraded)).toEqual([true, true]);
  silent.resume();
  await cluster.untilWhole();
  await until(() => !impatient.some(({ isDegraded }) => isDegraded));
  await expectExact(impatient, await aClientOf(silent));
});

test('two instances count exactly on every node, their shares while the node of a client is down, and together again afterwards', async () => {
  // The URL of one node means the cluster, whose other nodes are found.
  const pair = await startPair(patient(cluster.nodes[0]!.url));
  for (const node of cluster.nodes) await expectExact(pair, await aClientOf(node));
  const node = cluster.nodes[1]!;
  const [one, alone, later] = [await aClientOf(node), await aClientOf(node), await aClientOf(node)];
  await node.stop();
  await until(async () => {
    // One after another: requests that fail together are one failure.
    for (const counters of pair) expect(await outcomes([counters], one, 1)).toEqual({ allowed: 1 });
    return pair.every(({ isDegraded }) => isDegraded);
  });
  for (const counters of pair) {
    expect(await outcomes([counters], alone, SHARE + 4)).toEqual({ allowed: SHARE, limited: 4 });
  }

  await node.start();
  await cluster.untilWhole();
  await until(() => !pair.some(({ isDegraded }) => isDegraded));
  await expectExact(pair, later);
});
