/** What the service reports of its memory. */
export interface MemorySample {
  /** Seconds since the first sample. */
  seconds: number;
  rssBytes: number;
  heapBytes: number;
}

/** @param startedAt `performance.now()` of the first sample */
export async function sampleMemory(
  metricsUrl: string,
  startedAt: number,
  signal?: AbortSignal,
): Promise<MemorySample> {
  const text = await (await fetch(metricsUrl, { signal })).text();
  const valueOf = (metric: string) => {
    const value = Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]);
    if (Number.isNaN(value)) {
      throw new Error(`The service does not report its ${metric}`);
    }
    return value;
  };
  const seconds = (performance.now() - startedAt) / 1_000;
  const [rssBytes, heapBytes] = [
    valueOf('process_resident_memory_bytes'),
    valueOf('nodejs_heap_size_used_bytes'),
  ];
  return { seconds, rssBytes, heapBytes };
}
