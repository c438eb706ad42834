import { type Server, createServer } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface MetricsAddress {
  host: string;
  port: number;
}

/** What is counted of one operation, method and status. */
interface Series {
  requests: Counter.Internal;
  duration: Histogram.Internal<string>;
}

/** What the service tells Prometheus, on a port of its own. */
@Injectable()
export class MetricsService implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'petstore_http_requests_total',
    help: 'Requests answered, by operation (route pattern), method and status.',
    labelNames: ['operation', 'method', 'status'],
    registers: [this.registry],
  });
  private readonly duration = new Histogram({
    name: 'petstore_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['operation', 'method'],
    buckets: LATENCY_SECONDS,
    registers: [this.registry],
  });
  private readonly series = new Map<string, Series>();
  private server: Server | null = null;

  /** Counts every answer. Unknown paths share one label: a label for each would be anybody's to multiply. */
  watch(fastify: FastifyInstance): void {
    collectDefaultMetrics({ register: this.registry, prefix: 'petstore_' });
    fastify.addHook('onResponse', (request, reply, done) => {
      const operation = request.routeOptions.url ?? 'unknown';
      const { method } = request;
      const { requests, duration } = this.seriesOf(operation, method, reply.statusCode);
      requests.inc();
      duration.observe(reply.elapsedTime / 1000);
      done();
    });
  }

  /** Labels are hashed whenever they are given, so those of an operation are given once. */
  private seriesOf(operation: string, method: string, status: number): Series {
    const name = `${method} ${status} ${operation}`;
    let series = this.series.get(name);
    if (series === undefined) {
      series = {
        requests: this.requests.labels({ operation, method, status }),
        duration: this.duration.labels({ operation, method }),
      };
      this.series.set(name, series);
    }
    return series;
  }

  /** A figure that is read whenever it is asked for. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Rejects when the address cannot be listened on. */
  async listen({ host, port }: MetricsAddress): Promise<void> {
    const server = createServer((request, response) => {
      if (request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      this.registry.metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': this.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.server = server;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
