import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ApiCaller } from '../../../support/api-caller';
import { until } from '../../../support/eventually';
import { COUNTED, statuses } from '../../../support/limits';
import { RedisServer, freePort } from '../../../support/redis-server';
import { spread, tally } from '../../../support/spread';
import { Pair } from './support/pair';

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

  async forget(): Promise<void> {
    for (const node of this.nodes) await node.call('FLUSHALL');
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

let cluster: RedisCluster;
let pair: Pair;

beforeAll(async () => {
  cluster = await RedisCluster.start();
  // The URL of one node means the cluster, whose other nodes are found.
  pair = await Pair.start(cluster.nodes[0]!.url);
});
// Each pair has a database of its own, in which ids begin anew.
beforeEach(() => cluster.forget());
afterAll(async () => {
  await pair?.close();
  await cluster?.close();
});

/** A new free client whose counts this node holds, with a caller for either instance. */
async function aClientOf(node: RedisServer, of = pair): Promise<ApiCaller[]> {
  for (;;) {
    const { clientId, callers } = await of.client({ plan: 'free' });
    if ((await cluster.holderOf(`petstore:{client:${clientId}}:counts`)) === node) return callers;
  }
}

async function expectExact(callers: ApiCaller[]): Promise<void> {
  const answers = await spread(callers, LIMIT + 8, (caller) => caller.get(COUNTED), 8);
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: LIMIT, 429: 8 });
}

test('while a node of a cluster is silent, the connections to the cluster are replaced', async () => {
  const [node, , silent] = cluster.nodes as [RedisServer, RedisServer, RedisServer];
  const others = await cluster.connectionsOf(node);
  const urls = cluster.nodes.map(({ url }) => `${url}?commandTimeout=200`);
  const impatient = await Pair.start(urls.join());
  const before = (await cluster.connectionsOf(node)).filter((id) => !others.includes(id));
  expect(before.length).toBeGreaterThan(1);
  silent.pause();
  await until(async () => !(await cluster.connectionsOf(node)).some((id) => before.includes(id)));
  expect(impatient.degraded).toEqual([true, true]);
  silent.resume();
  await cluster.untilWhole();
  await until(() => !impatient.degraded.some(Boolean));
  await expectExact(await aClientOf(silent, impatient));
  await impatient.close();
});

test('two instances count exactly on every node, their shares while the node of a client is down, and together again afterwards', async () => {
  for (const node of cluster.nodes) await expectExact(await aClientOf(node));
  const node = cluster.nodes[1]!;
  const [one, alone, later] = [await aClientOf(node), await aClientOf(node), await aClientOf(node)];
  await node.stop();
  await until(async () => {
    // One after another: requests that fail together are one failure.
    for (const caller of one) expect(await statuses(caller, 1)).toEqual([200]);
    return pair.degraded.every(Boolean);
  });
  for (const caller of alone) {
    expect(tally(await statuses(caller, SHARE + 4))).toEqual({ 200: SHARE, 429: 4 });
  }

  await node.start();
  await cluster.untilWhole();
  await until(() => !pair.degraded.some(Boolean));
  await expectExact(later);
});
