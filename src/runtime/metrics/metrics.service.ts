import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { totalmem } from 'node:os';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AggregatorRegistry, type Metric, Registry, collectDefaultMetrics } from 'prom-client';
import type { Settings } from '../../settings';
import { explainAddress } from '../failures';

export type Labels = Record<string, string | number>;
/** The suffix is that of a histogram's name. */
export type Sample = [labels: Labels, value: number, suffix?: string];

/** One value, or one for each combination of labels. */
type Values = number | Sample[];

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
    aggregator: 'sum' | 'max' | 'min' = 'sum',
  ): void {
    this.add('gauge', name, help, read, aggregator);
  }

  counter(name: string, help: string, read: () => Values): void {
    this.add('counter', name, help, read);
  }

  histogram(name: string, help: string, read: () => Sample[]): void {
    this.add('histogram', name, help, read);
  }

  /** The values are counted elsewhere, so this implements what a registry needs: prom-client's own metrics count. */
  private add(
    type: string,
    name: string,
    help: string,
    read: () => Values | Promise<Values>,
    aggregator = 'sum',
  ): void {
    const get = async () => {
      const found = await read();
      const samples: Sample[] = typeof found === 'number' ? [[{}, found]] : found;
      const values = samples.map(([labels, value, suffix]) => ({
        metricName: suffix === undefined ? name : `${name}_${suffix}`,
        labels,
        value,
      }));
      return { name, help, type, values, aggregator };
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

/** Samples of a metric with one label. */
export function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}
