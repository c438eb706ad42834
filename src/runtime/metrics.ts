import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Injectable } from '@nestjs/common';
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type Metric,
  Registry,
  collectDefaultMetrics,
} from 'prom-client';
import type { Settings } from '../settings';
import { explainAddress } from './failures';

export type Labels = Record<string, string | number>;
export type Sample = [labels: Labels, value: number];
export type HistogramSample = [suffix: 'bucket' | 'sum' | 'count', ...Sample];

/** One value, or one for each combination of labels. */
type Values = number | Sample[];

/** The service's metrics for Prometheus. Values are counted elsewhere and read at each scrape. */
@Injectable()
export class MetricsService {
  private readonly registry = new Registry();

  /** Adds the usual metrics of the process and Node.js. A worker tells all of its metrics to the first process. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    if (cluster.isWorker) {
      AggregatorRegistry.setRegistries(this.registry);
      new AggregatorRegistry();
    }
  }

  /** All metrics in Prometheus's text format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** @param aggregator how the values of several workers are combined */
  gauge(
    name: string,
    help: string,
    read: () => Values | Promise<Values>,
    { labels = [], aggregator = 'sum' }: { labels?: string[]; aggregator?: 'sum' | 'max' | 'min' } = {},
  ): void {
    new Gauge({
      ...{ name, help, aggregator, labelNames: labels, registers: [this.registry] },
      async collect() {
        samplesOf(await read()).forEach(([given, value]) => this.set(given, value));
      },
    });
  }

  counter(name: string, help: string, read: () => Values, labels: string[] = []): void {
    new Counter({
      ...{ name, help, labelNames: labels, registers: [this.registry] },
      collect() {
        this.reset();
        samplesOf(read()).forEach(([given, value]) => this.inc(given, value));
      },
    });
  }

  /** prom-client has no histogram with settable values, so this implements what its registry needs. */
  histogram(name: string, help: string, read: () => HistogramSample[]): void {
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
}

function samplesOf(values: Values): Sample[] {
  return typeof values === 'number' ? [[{}, values]] : values;
}

/** Samples of a metric with one label. */
export function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}

/**
 * Serves metrics at `/metrics`, in Prometheus's text format, until the process ends; not without an address.
 * @throws StartError if the address is unavailable
 */
export async function serveMetrics(address: Settings['metrics'], read: () => Promise<string>): Promise<void> {
  if (address === undefined) {
    return;
  }
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    read().then(
      (metrics) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
  await explainAddress('METRICS_PORT', address, () => once(server.unref().listen(address), 'listening'));
}
