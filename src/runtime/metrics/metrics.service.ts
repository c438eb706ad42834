import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { totalmem } from 'node:os';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type Metric,
  Registry,
  collectDefaultMetrics,
} from 'prom-client';
import type { Settings } from '../../settings';
import { explainAddress } from '../failures';

export type Labels = Record<string, string | number>;
export type Sample = [labels: Labels, value: number];

/** One value, one for each value of the only label, or one for each combination of labels. */
type Values = number | Record<string, number> | Sample[];

type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What the first process asks a worker, and its answer. */
const ASK = { askMetrics: true };
interface Answer {
  metrics: Metrics;
}
const ANSWER_MS = 5_000;

/** In the first process. @returns nothing if the worker does not answer */
async function askMetrics(worker: Worker): Promise<Metrics> {
  try {
    const answers = on(worker, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
    worker.send(ASK, () => undefined);
    for await (const [{ metrics }] of answers as AsyncIterable<[Partial<Answer>]>) {
      if (metrics !== undefined) {
        return metrics;
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') {
      throw error;
    }
  }
  return [];
}

/** The service's metrics for Prometheus, on their own port. Values are counted elsewhere and read at each scrape. */
@Injectable()
export class MetricsService implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private server?: Server;

  /** Adds the usual metrics of the process and Node.js. Those of a worker name it: they say nothing when added up. */
  watchProcess(): void {
    const labels = cluster.isWorker ? { worker: cluster.worker!.id } : {};
    collectDefaultMetrics({ register: this.registry, labels });
    const limit = Math.min(process.constrainedMemory() || Infinity, totalmem());
    this.gauge(
      'petstore_memory_limit_bytes',
      'The memory that the service may use: that of the container, or of the machine.',
      () => limit,
      [],
      'max',
    );
    if (cluster.isWorker) {
      process.on('message', (message: Partial<typeof ASK>) => message.askMetrics && void this.tell());
    }
  }

  /** The metrics of this process and of these workers, added up. A worker that does not answer is left out. */
  async textWith(workers: readonly Worker[]): Promise<string> {
    const all = await Promise.all([this.registry.getMetricsAsJSON(), ...workers.map(askMetrics)]);
    // As the labels of a process differ, none of its metrics needs to be left out, as prom-client would do.
    const named = all.map((one) =>
      one.map((metric) => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric)),
    );
    return AggregatorRegistry.aggregate(named).metrics();
  }

  private async tell(): Promise<void> {
    const metrics = await this.registry.getMetricsAsJSON();
    process.send!({ metrics } satisfies Answer, undefined, undefined, () => undefined);
  }

  /** @param aggregator how the values of several workers are combined */
  gauge(
    name: string,
    help: string,
    read: () => Values | Promise<Values>,
    labels: string[] = [],
    aggregator: 'sum' | 'max' | 'min' = 'sum',
  ): void {
    const metric = { name, help, labelNames: labels, aggregator, registers: [this.registry] };
    new Gauge({
      ...metric,
      async collect() {
        samplesOf(await read(), labels).forEach((sample) => this.set(...sample));
      },
    });
  }

  counter(name: string, help: string, read: () => Values, labels: string[] = []): void {
    new Counter({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        samplesOf(read(), labels).forEach((sample) => this.inc(...sample));
      },
    });
  }

  /** prom-client has no histogram with settable values, so this implements what its registry needs. */
  histogram(name: string, help: string, read: () => [suffix: string, ...sample: Sample][]): void {
    const get = () => {
      const values = read().map(([suffix, labels, value]) => ({
        metricName: `${name}_${suffix}`,
        labels,
        value,
      }));
      return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
    };
    this.registry.registerMetric({ name, help, get } as unknown as Metric);
  }

  /** All metrics in Prometheus's text format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /**
   * Serves metrics at `/metrics`, in Prometheus's text format; not without an address.
   * @throws StartError if the address is unavailable
   */
  async listen(address: Settings['metrics'], text = () => this.text()): Promise<void> {
    if (address === undefined) {
      return;
    }
    const server = createServer((request, response) => {
      if (request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      text().then(
        (metrics) =>
          response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(metrics),
        () => response.writeHead(500).end(),
      );
    });
    this.server = server;
    await explainAddress('METRICS_PORT', address, () => once(server.listen(address), 'listening'));
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}

function samplesOf(values: Values, [label = '']: string[]): Sample[] {
  if (typeof values === 'number') {
    return [[{}, values]];
  }
  return Array.isArray(values)
    ? values
    : Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}
