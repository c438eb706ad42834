import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf, newApiKey } from '../../src/modules/auth/api-key-format';
import { collectingService } from './contenders';
import { withCleanUp } from './harness/clean-up';
import { run } from './harness/databases';
import { type MemorySample, sampleMemory } from './harness/memory';
import { type RunningContender, type Surroundings, startContender } from './harness/start-contender';

export interface ClientsFigures {
  clients: number;
  /** Of each client. */
  requests: number;
  requestsPerSecond: number;
  /** By how much the process has grown since a single client had sent many requests: as it was, and without its garbage. */
  rssBytes: number;
  rssBytesInUse: number;
  heapBytesInUse: number;
  complaints: string[];
}

const REQUESTS = 3;
/** A single client's, so that everything has been compiled and the heap has the size that the load alone needs. */
const WARM_UP_REQUESTS = 30_000;
const BATCH = 10_000;
/** Counts and last uses are written behind. */
const SETTLE_MS = 3_000;

/** Lets many clients, each with a key of its own, send a few requests, and looks at how the service grows with them. */
export function growWithClients(
  checkout: string,
  clients: number,
  surroundings: Surroundings,
  connections: number,
): Promise<ClientsFigures> {
  return withCleanUp(async (cleanUp) => {
    const service = await startContender(collectingService(checkout), surroundings, cleanUp);
    const keys = Array.from({ length: clients }, newApiKey);
    await enter(keys, service.databaseUrl);
    const { signal } = surroundings;
    const send = (key: string, agent: Agent) => statusOf(service, key, agent, signal);
    const complaints = await sendAll(WARM_UP_REQUESTS, () => service.apiKey, send, connections);
    const before = await memoryOf(service, signal);
    const startedAt = performance.now();
    complaints.push(
      ...(await sendAll(clients * REQUESTS, (turn) => keys[turn % clients]!, send, connections)),
    );
    const requestsPerSecond = (clients * REQUESTS * 1_000) / (performance.now() - startedAt);
    const after = await memoryOf(service, signal);
    return {
      clients,
      requests: REQUESTS,
      requestsPerSecond,
      rssBytes: after.asItIs.rssBytes - before.asItIs.rssBytes,
      rssBytesInUse: after.inUse.rssBytes - before.inUse.rssBytes,
      heapBytesInUse: after.inUse.heapBytes - before.inUse.heapBytes,
      complaints,
    };
  });
}

async function memoryOf(
  { metricsUrl, pid }: RunningContender,
  signal: AbortSignal,
): Promise<{ asItIs: MemorySample; inUse: MemorySample }> {
  await sleep(SETTLE_MS, undefined, { signal });
  const asItIs = await sampleMemory(metricsUrl, 0, signal);
  process.kill(pid, 'SIGUSR2');
  await sleep(SETTLE_MS, undefined, { signal });
  return { asItIs, inUse: await sampleMemory(metricsUrl, 0, signal) };
}

/** Enters a client for each key, as the command line does, but many at once. */
async function enter(keys: string[], databaseUrl: string): Promise<void> {
  for (let first = 0; first < keys.length; first += BATCH) {
    // Digests are of letters and digits that need no quoting.
    const digests = keys.slice(first, first + BATCH).map((key) => `'${digestOf(key)}'`);
    await run(databaseUrl, [
      `WITH entered AS (
         INSERT INTO clients (name, plan) SELECT digest, 'free' FROM unnest(ARRAY[${digests.join(', ')}]) digest RETURNING id, name)
       INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, name, right(name, 4), '{read}' FROM entered`,
    ]);
  }
}

/** @returns how often each wrong answer came */
async function sendAll(
  count: number,
  keyOf: (turn: number) => string,
  send: (key: string, agent: Agent) => Promise<number>,
  connections: number,
): Promise<string[]> {
  // Connections of its own: the service closes those that have been idle.
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const wrong = new Map<number, number>();
  let next = 0;
  const work = async () => {
    for (let turn = next++; turn < count; turn = next++) {
      const status = await send(keyOf(turn), agent);
      if (status !== 200) {
        wrong.set(status, (wrong.get(status) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, work)).finally(() => agent.destroy());
  return [...wrong].map(([status, times]) => `${times} answers were ${status} instead of 200`);
}

function statusOf(
  { url }: RunningContender,
  key: string,
  agent: Agent,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage) => {
      answer
        .resume()
        .once('end', () => resolve(answer.statusCode!))
        .once('error', reject);
    };
    request(`${url}/pets?id=1`, { agent, signal, headers: { 'X-API-Key': key } }, answered)
      .once('error', reject)
      .end();
  });
}
