import cluster from 'node:cluster';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
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

/** The service's metrics for Prometheus, on their own port. Values are counted elsewhere and read at each scrape. */
@Injectable()
export class MetricsService implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private server?: Server;

  /** Adds the usual metrics of the process and Node.js. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    if (cluster.isWorker) {
      // In a worker: the first process collects from all workers and adds up.
      AggregatorRegistry.setRegistries(this.registry);
      new AggregatorRegistry();
    }
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

  async listen(address: Settings['metrics']): Promise<void> {
    this.server = await serveMetrics(address, () => this.text());
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

/**
 * Serves metrics at `/metrics`, in Prometheus's text format; not without an address.
 * @throws StartError if the address is unavailable
 */
export async function serveMetrics(
  address: Settings['metrics'],
  text: () => Promise<string>,
): Promise<Server | undefined> {
  if (address === undefined) {
    return undefined;
  }
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (metrics) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
  await explainAddress('METRICS_PORT', address, () => once(server.listen(address), 'listening'));
  return server;
}
