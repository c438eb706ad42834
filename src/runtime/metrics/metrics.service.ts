import cluster from 'node:cluster';
import type { Server } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { type MetricsAddress, serveMetrics } from './serve-metrics';
import { RequestMetrics } from './request-metrics';

/** One value, or one for each value of the only label. */
type Figures = number | Record<string, number>;

/** What the service tells Prometheus, on a port of its own. */
@Injectable()
export class MetricsService implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private server: Server | null = null;

  /** Has every answer counted, and the process and its runtime watched, under the names that all Node.js programs use. */
  watch(fastify: FastifyInstance): void {
    collectDefaultMetrics({ register: this.registry });
    new RequestMetrics(this.registry).watch(fastify);
    if (cluster.isWorker) {
      // The process that started this one asks all its workers, and adds up.
      AggregatorRegistry.setRegistries(this.registry);
      new AggregatorRegistry();
    }
  }

  /**
   * A figure that is read whenever Prometheus asks.
   * @param label names what a record's members stand for
   * @param aggregator what the figures of several workers are together
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

  /** As `gauge`, for what only ever grows: it is counted elsewhere and read here. */
  counter(name: string, help: string, read: () => Figures, label?: string): void {
    new Counter({
      ...this.configurationOf(name, help, label),
      collect() {
        this.reset();
        figuresOf(read(), label).forEach(([labels, value]) => this.inc(labels, value));
      },
    });
  }

  /** All figures as Prometheus reads them, in its text format 0.0.4. */
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
