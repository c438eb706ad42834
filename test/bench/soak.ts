import { setTimeout as sleep } from 'node:timers/promises';
import { service as serviceOf } from './contenders';
import { withCleanUp } from './harness/clean-up';
import { type Driving, measuredRun } from './harness/measured-run';
import { type MemorySample, sampleMemory } from './harness/memory';
import { type Surroundings, startContender } from './harness/start-contender';
import { type Spread, slopeOf, spreadOf } from './harness/statistics';
import { workload } from './workloads';

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
    return { minutes, requestsPerSecond, complaints, ...summarize(await sampling) };
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

function summarize(
  samples: MemorySample[],
): Omit<SoakFigures, 'minutes' | 'requestsPerSecond' | 'complaints'> {
  const later = samples.slice(Math.floor(samples.length / 2));
  const kibPerMinute = (bytes: (sample: MemorySample) => number) =>
    (slopeOf(later.map((sample) => [sample.seconds, bytes(sample)])) * 60) / 1_024;
  return {
    rssBytes: spreadOf(later.map(({ rssBytes }) => rssBytes)),
    heapBytes: spreadOf(later.map(({ heapBytes }) => heapBytes)),
    rssKibPerMinute: kibPerMinute(({ rssBytes }) => rssBytes),
    heapKibPerMinute: kibPerMinute(({ heapBytes }) => heapBytes),
    samples,
  };
}
