// The metrics of several workers as those of one service.
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry, Gauge, type MetricObject, type Registry } from 'prom-client';

/** How long a worker may take to tell its metrics: less than Prometheus waits. */
const ANSWER_MS = 2_000;
const ASK = 'metrics';

export const MISSING_WORKERS = {
  name: 'petstore_workers_missing',
  help: 'Workers that should run but do not answer; the other metrics lack theirs.',
};

/** In a worker: sends its metrics when the first process asks. */
export function answerFirstProcess(registry: Registry): void {
  process.on('message', (message) => {
    if (message === ASK) {
      void registry.getMetricsAsJSON().then((metrics) => process.send?.(metrics));
    }
  });
}

/**
 * Those of the workers that answer, added up.
 * @param expected how many workers there should be
 */
export async function metricsOf(workers: Worker[], expected: number): Promise<string> {
  const answers = (await Promise.all(workers.map(metricsOfOne))).filter((answer) => answer !== undefined);
  const registry = AggregatorRegistry.aggregate(answers);
  new Gauge({ ...MISSING_WORKERS, registers: [registry] }).set(expected - answers.length);
  return registry.metrics();
}

async function metricsOfOne(worker: Worker): Promise<MetricObject[] | undefined> {
  try {
    worker.send(ASK, () => undefined);
    const signal = AbortSignal.timeout(ANSWER_MS);
    const [metrics] = (await once(worker, 'message', { signal })) as [MetricObject[]];
    return metrics;
  } catch {
    return undefined;
  }
}
