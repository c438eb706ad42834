import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf, newApiKey } from '../../src/modules/auth/api-key-format';
import { collectingService, service as serviceOf } from './contenders';
import { withCleanUp } from './harness/clean-up';
import { run } from './harness/databases';
import { type Driving, measuredRun } from './harness/measured-run';
import { type MemorySample, sampleMemory } from './harness/memory';
import { sendAll } from './harness/send';
import { type RunningContender, type Surroundings, startContender } from './harness/start-contender';
import { type Spread, slopeOf, spreadOf } from './harness/statistics';
import { type WorkloadRequest, workload } from './workloads';

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
const ASKED: WorkloadRequest = { method: 'GET', path: '/pets?id=1' };

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
    const wrong: Record<number, number> = {};
    const sendTimes = async (count: number, senders: string[]) => {
      const startedAt = performance.now();
      await sendAll(service.url, askedBy(senders, count), connections, signal, ({ status }) => {
        if (status !== 200) wrong[status] = (wrong[status] ?? 0) + 1;
      });
      return (count * 1_000) / (performance.now() - startedAt);
    };
    await sendTimes(WARM_UP_REQUESTS, [service.apiKey]);
    const before = await memoryOf(service, signal);
    const requestsPerSecond = await sendTimes(clients * REQUESTS, keys);
    const after = await memoryOf(service, signal);
    return {
      clients,
      requests: REQUESTS,
      requestsPerSecond,
      rssBytes: after.asItIs.rssBytes - before.asItIs.rssBytes,
      rssBytesInUse: after.inUse.rssBytes - before.inUse.rssBytes,
      heapBytesInUse: after.inUse.heapBytes - before.inUse.heapBytes,
      complaints: Object.entries(wrong).map(([status, times]) => `${times} answers were ${status}, not 200`),
    };
  });
}

function* askedBy(keys: string[], count: number) {
  for (let turn = 0; turn < count; turn += 1) {
    yield { request: ASKED, key: keys[turn % keys.length]! };
  }
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

export interface SoakFigures {
  minutes: number;
  requestsPerSecond: number;
  complaints: string[];
  /** Of the second half, when everything has been compiled and every cache is filled. */
  rssBytes: Spread;
  heapBytes: Spread;
  rssKibPerMinute: number;
  heapKibPerMinute: number;
  samples: MemorySample[];
}

const SAMPLE_MS = 5_000;

/** Keeps the service under full load of reads and orders, and looks at its memory meanwhile. */
export function soak(
  checkout: string,
  minutes: number,
  surroundings: Surroundings,
  driving: Driving,
): Promise<SoakFigures> {
  return withCleanUp(async (cleanUp) => {
    const service = await startContender(serviceOf(checkout), surroundings, cleanUp);
    const ended = new AbortController();
    const sampling = samplesUntil(AbortSignal.any([ended.signal, driving.signal]), service.metricsUrl);
    // Awaited below; a run that fails first must not leave its rejection unheard.
    sampling.catch(() => undefined);
    const load = { ...driving, seconds: minutes * 60 };
    const work = await workload('mixed', service);
    const result = await measuredRun(service, work, load).finally(() => ended.abort());
    const { requestsPerSecond, complaints } = result;
    const samples = await sampling;
    const later = samples.slice(Math.floor(samples.length / 2));
    const kibPerMinute = (bytes: 'rssBytes' | 'heapBytes') =>
      (slopeOf(later.map((sample) => [sample.seconds, sample[bytes]])) * 60) / 1_024;
    return {
      minutes,
      requestsPerSecond,
      complaints,
      rssBytes: spreadOf(later.map(({ rssBytes }) => rssBytes)),
      heapBytes: spreadOf(later.map(({ heapBytes }) => heapBytes)),
      rssKibPerMinute: kibPerMinute('rssBytes'),
      heapKibPerMinute: kibPerMinute('heapBytes'),
      samples,
    };
  });
}

async function samplesUntil(signal: AbortSignal, metricsUrl: string): Promise<MemorySample[]> {
  const startedAt = performance.now();
  const samples: MemorySample[] = [];
  while (!signal.aborted) {
    samples.push(await sampleMemory(metricsUrl, startedAt));
    await sleep(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}
