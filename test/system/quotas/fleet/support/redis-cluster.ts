import { execFileSync } from 'node:child_process';
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
    for (let index = 0; index < NODES; index += 1) {
      const ports = ['--cluster-port', String(await freePort())];
      const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
      nodes.push(await RedisServer.start(['--cluster-enabled', 'yes', ...ports, ...timeout]));
    }
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
    const cluster = new RedisCluster(nodes);
    await cluster.untilWhole();
    return cluster;
  }

  /** The node that holds a key. */
  async holderOf(key: string): Promise<RedisServer> {
    const slot = await ask(this.nodes[0]!, (client) => client.cluster('KEYSLOT', key));
    return this.nodes[Math.floor((slot * NODES) / SLOTS)]!;
  }

  async forget(): Promise<void> {
    for (const node of this.nodes) await ask(node, (client) => client.flushall());
  }

  /** The ids of a node's connections. */
  async connectionsOf(node: RedisServer): Promise<string[]> {
    const list = await ask(node, (client) => client.client('LIST'));
    return [...String(list).matchAll(/^id=(\d+)/gm)].map(([, id]) => id!);
  }

  /** Waits until every node serves: for some seconds after a node is back, the others refuse all requests. */
  async untilWhole(): Promise<void> {
    for (const node of this.nodes) {
      await until(async () => {
        const information = await ask(node, (client) => client.cluster('INFO'));
        return information.includes('cluster_state:ok');
      });
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
  }
}

async function ask<Answer>(node: RedisServer, work: (client: Redis) => Promise<Answer>): Promise<Answer> {
  const client = new Redis(node.url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
