import cluster from 'node:cluster';
import { type Server, createServer } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { RequestMetrics } from './request-metrics';

export interface MetricsAddress {
  host: string;
  port: number;
}

/** One value, or one for each value of the only label. */
type Values = number | Record<string, number>;

/** The service's metrics for Prometheus, on their own port. */
@Injectable()
export class MetricsService implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private server: Server | null = null;

  /** Counts every response, and adds the usual metrics of the process and Node.js. */
  watch(fastify: FastifyInstance): void {
    collectDefaultMetrics({ register: this.registry });
    new RequestMetrics(this.registry).watch(fastify);
    if (cluster.isWorker) {
      // In a worker: the first process collects from all workers and adds up.
      AggregatorRegistry.setRegistries(this.registry);
      new AggregatorRegistry();
    }
  }

  /**
   * A value that is read at each scrape.
   * @param label the label whose values are the keys of a record
   * @param aggregator how the values of several workers are combined
   */
  gauge(
    name: string,
    help: string,
    read: () => Values,
    label?: string,
    aggregator: 'sum' | 'max' = 'sum',
  ): void {
    new Gauge({
      ...this.configurationOf(name, help, label),
      aggregator,
      collect() {
        samplesOf(read(), label).forEach(([labels, value]) => this.set(labels, value));
      },
    });
  }

  /** As `gauge`, for a value that only grows: it is counted elsewhere and read here. */
  counter(name: string, help: string, read: () => Values, label?: string): void {
    new Counter({
      ...this.configurationOf(name, help, label),
      collect() {
        this.reset();
        samplesOf(read(), label).forEach(([labels, value]) => this.inc(labels, value));
      },
    });
  }

  /** All metrics in Prometheus's text format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Rejects when the address cannot be listened on. */
  async listen(address: MetricsAddress): Promise<void> {
    this.server = await serveMetrics(address, () => this.text());
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private configurationOf(name: string, help: string, label?: string) {
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.registry] };
  }
}

function samplesOf(values: Values, label: string | undefined): [Record<string, string>, number][] {
  if (label === undefined || typeof values === 'number') {
    return [[{}, values as number]];
  }
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}

/** Serves metrics at `/metrics`, in Prometheus's text format. Rejects if the address is unavailable. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
): Promise<Server> {
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
