/** What the service tells of its memory. */
export interface MemorySample {
  /** Seconds since the first sample. */
  seconds: number;
  rssBytes: number;
  heapBytes: number;
}

const RSS = 'process_resident_memory_bytes';
const HEAP = 'nodejs_heap_size_used_bytes';

/** @param startedAt `performance.now()` of the first sample */
export async function sampleMemory(
  metricsUrl: string,
  startedAt: number,
  signal?: AbortSignal,
): Promise<MemorySample> {
  const text = await (await fetch(metricsUrl, { signal })).text();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, rssBytes: valueOf(RSS, text), heapBytes: valueOf(HEAP, text) };
}

function valueOf(metric: string, text: string): number {
  const value = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) {
    throw new Error(`The service does not tell its ${metric}`);
  }
  return Number(value);
}
