import cluster from 'node:cluster';
import type { Server } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { type MetricsAddress, serveMetrics } from './serve-metrics';
import { RequestMetrics } from './request-metrics';

/** One value, or one for each value of the only label. */
type Figures = number | Record<string, number>;

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
    read: () => Figures,
    label?: string,
    aggregator: 'sum' | 'max' = 'sum',
  ): void {
    new Gauge({
      ...this.configurationOf(name, help, label),
      aggregator,
      collect() {
        figuresOf(read(), label).forEach(([labels, value]) => this.set(labels, value));
      },
    });
  }

  /** As `gauge`, for a value that only grows: it is counted elsewhere and read here. */
  counter(name: string, help: string, read: () => Figures, label?: string): void {
    new Counter({
      ...this.configurationOf(name, help, label),
      collect() {
        this.reset();
        figuresOf(read(), label).forEach(([labels, value]) => this.inc(labels, value));
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

function figuresOf(figures: Figures, label: string | undefined): [Record<string, string>, number][] {
  if (label === undefined || typeof figures === 'number') {
    return [[{}, figures as number]];
  }
  return Object.entries(figures).map(([name, value]) => [{ [label]: name }, value]);
}
