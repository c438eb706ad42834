import { Redis } from 'ioredis';
import { RedisServer, freePort } from '../../../../support/redis-server';
import { until } from '../../../../support/eventually';

const NODES = 3;
const SLOTS = 16_384;
/** After so long a silence the others take a node for dead. */
const NODE_TIMEOUT_MS = 3_000;

/** A real Redis Cluster of three masters without replicas, whose nodes a test may stop. */
export class RedisCluster {
  private constructor(readonly nodes: RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    const busPorts: number[] = [];
    for (let index = 0; index < NODES; index += 1) {
      const busPort = await freePort();
      busPorts.push(busPort);
      const ports = ['--cluster-port', String(busPort)];
      const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
      nodes.push(await RedisServer.start(['--cluster-enabled', 'yes', ...ports, ...timeout]));
    }
    const cluster = new RedisCluster(nodes);
    await cluster.join(busPorts);
    return cluster;
  }

  /** The addresses of all nodes, as REDIS_URL takes them. */
  get url(): string {
    return this.nodes.map(({ url }) => url).join(',');
  }

  /** The node that holds a key. */
  async holderOf(key: string): Promise<RedisServer> {
    const slot = await withClient(this.nodes[0]!, (client) => client.cluster('KEYSLOT', key));
    return this.nodes[Math.floor((slot * NODES) / SLOTS)]!;
  }

  /** Waits until every node serves: for some seconds after a node is back, the others refuse all requests. */
  async untilWhole(): Promise<void> {
    for (const node of this.nodes) {
      await withClient(node, (client) => until(async () => isComplete(await client.cluster('INFO'))));
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) {
      await node.close();
    }
  }

  private async join(busPorts: number[]): Promise<void> {
    for (const [index, node] of this.nodes.entries()) {
      await withClient(node, async (client) => {
        await client.cluster('SET-CONFIG-EPOCH', index + 1);
        const [first, end] = [index, index + 1].map((part) => Math.ceil((part * SLOTS) / NODES));
        await client.call('CLUSTER', 'ADDSLOTSRANGE', first!, end! - 1);
        await client.call('CLUSTER', 'MEET', '127.0.0.1', this.nodes[0]!.port, busPorts[0]!);
      });
    }
    await this.untilWhole();
  }
}

function isComplete(info: string): boolean {
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`);
}

async function withClient<Result>(
  node: RedisServer,
  work: (client: Redis) => Promise<Result>,
): Promise<Result> {
  const client = new Redis(node.url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
