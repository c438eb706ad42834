import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { totalmem } from 'node:os';
import { Injectable, Module } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, type Metric, Registry, collectDefaultMetrics } from 'prom-client';
import { Database } from '#libs/database';
import { type Connections, routeOf } from '#libs/http';
import {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  QuotaStore,
  QuotasModule,
  limiterDecisionOf,
} from '../modules/quotas';
import { DeliveryWorker, WebhookAdministration, WebhooksModule } from '../modules/webhooks';
import type { Settings } from '../settings';
import { explainAddress } from './failures';
import { HealthModule, Readiness } from './health';
import { lostLogLines } from './logging';
import { MISSING_WORKERS, tellMetrics } from './worker-metrics';

type Labels = Record<string, string | number>;
type Sample = [labels: Labels, value: number];
type HistogramSample = [suffix: 'bucket' | 'sum' | 'count', ...Sample];

/** One value, or one for each combination of labels. */
type Values = number | Sample[];

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The responses of one operation, method and status. */
class Durations {
  /** By the lowest bound that they did not exceed; the last element counts those that exceeded all. */
  private readonly byLatency = new Array<number>(LATENCY_SECONDS.length + 1).fill(0);
  private seconds = 0;

  constructor(private readonly labels: Labels) {}

  add(seconds: number): void {
    const bound = LATENCY_SECONDS.findIndex((limit) => seconds <= limit);
    this.byLatency[bound === -1 ? LATENCY_SECONDS.length : bound]! += 1;
    this.seconds += seconds;
  }

  /** The samples of a histogram, by the suffix of its name; buckets are cumulative. */
  samples(): HistogramSample[] {
    const { labels } = this;
    let count = 0;
    const buckets = this.byLatency.map((responses, index): HistogramSample => {
      count += responses;
      return ['bucket', { le: LATENCY_SECONDS[index] ?? '+Inf', ...labels }, count];
    });
    return [...buckets, ['sum', labels, this.seconds], ['count', labels, count]];
  }
}

/**
 * The service's metrics for Prometheus: plain numbers, which are read at each scrape. prom-client looks up its labels at each
 * count, and for two metrics that takes 1 to 2 µs of a request.
 */
@Injectable()
export class MetricsService {
  private readonly registry = new Registry();
  private readonly durations = new Map<string, Durations>();
  // All of these start at 0: the rate of a series that did not exist yet misses its first increment.
  private readonly decisions = { client: zeros(LIMITER_DECISIONS), address: zeros(LIMITER_DECISIONS) };
  private readonly bans = zeros(BAN_LEVELS);

  constructor(
    private readonly database: Database,
    private readonly quotas: QuotaStore,
    private readonly deliveries: DeliveryWorker,
    private readonly webhooks: WebhookAdministration,
    private readonly readiness: Readiness,
  ) {}

  /**
   * Counts every response, beside the usual metrics of the process and Node.js. A worker tells all of its metrics to the first
   * process.
   */
  watch(fastify: FastifyInstance, connections: Connections): void {
    collectDefaultMetrics({ register: this.registry });
    if (cluster.isWorker) {
      tellMetrics(this.registry);
    } else {
      this.gauge(MISSING_WORKERS.name, MISSING_WORKERS.help, () => 0);
    }
    this.registerProcess();
    this.registerDatabase();
    this.registerWebhooks();
    this.registerRequests(connections);
    fastify.addHook('onResponse', (request, reply, done) => {
      this.count(request, reply);
      done();
    });
  }

  /** All metrics in Prometheus's text format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  private registerProcess(): void {
    const memoryLimit = Math.min(process.constrainedMemory() || Infinity, totalmem());
    this.gauge(
      'petstore_memory_limit_bytes',
      'The memory that the service may use: that of the container, or of the machine.',
      () => memoryLimit,
      { aggregator: 'max' },
    );
    this.counter(
      'petstore_log_lines_lost_total',
      'Log lines that were dropped because nothing read the log.',
      lostLogLines,
    );
    this.gauge(
      'petstore_ready',
      'Whether /health/ready is 200 (1) or not (0).',
      async () => Number((await this.readiness.reason()) === undefined),
      { aggregator: 'min' },
    );
  }

  private registerDatabase(): void {
    this.gauge(
      'petstore_database_pool_connections',
      'Database connections, by whether they are in use (busy) or not (idle).',
      () => {
        const { busy, idle } = this.database.poolUse;
        return by('state', { busy, idle });
      },
      { labels: ['state'] },
    );
    this.gauge(
      'petstore_database_pool_waiting_requests',
      'Operations waiting for a database connection.',
      () => this.database.poolUse.waiting,
    );
  }

  /** No label names a webhook or a client, because their number is unlimited. */
  private registerWebhooks(): void {
    this.counter(
      'petstore_webhook_attempts_total',
      'Attempts of this instance to deliver an event to a webhook, by whether it was delivered or failed.',
      () => by('result', this.deliveries.counts),
      ['result'],
    );
    // Each worker has read the same database.
    this.gauge(
      'petstore_webhook_oldest_due_seconds',
      'How long the oldest pending delivery has been due, excluding webhooks with failing receivers.',
      () => this.webhooks.oldestDueSeconds(),
      { aggregator: 'max' },
    );
  }

  private registerRequests(connections: Connections): void {
    this.gauge('petstore_http_connections', 'Open connections of callers.', () => connections.open);
    this.histogram(
      'petstore_http_request_duration_seconds',
      'Time from the request to the end of the response, by operation (route pattern), method and status.',
      () => [...this.durations.values()].flatMap((durations) => durations.samples()),
    );
    this.gauge(
      'petstore_limits_degraded',
      'Whether limits are counted by this instance alone because Redis is unavailable (1) or not (0).',
      () => Number(this.quotas.redis.isDegraded),
      { aggregator: 'max' },
    );
    this.counter(
      'petstore_limiter_decisions_total',
      'Decisions of the limiter for clients, and for addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
      () =>
        Object.entries(this.decisions).flatMap(([subject, counts]) =>
          by('decision', counts).map(([labels, value]): Sample => [{ subject, ...labels }, value]),
        ),
      ['subject', 'decision'],
    );
    this.counter(
      'petstore_limiter_bans_total',
      'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
      () => by('level', this.bans),
      ['level'],
    );
  }

  /** @param aggregator how the values of several workers are combined */
  private gauge(
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

  private counter(name: string, help: string, read: () => Values, labels: string[] = []): void {
    new Counter({
      ...{ name, help, labelNames: labels, registers: [this.registry] },
      collect() {
        this.reset();
        samplesOf(read()).forEach(([given, value]) => this.inc(given, value));
      },
    });
  }

  /** prom-client has no histogram with settable values, so this implements what its registry needs. */
  private histogram(name: string, help: string, read: () => HistogramSample[]): void {
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

  private count(request: FastifyRequest, reply: FastifyReply): void {
    this.durationsOf(request, reply).add(reply.elapsedTime / 1000);
    const { client } = request;
    if (client?.admission) {
      const { decision } = client.admission;
      this.decisions[client.key === null ? 'address' : 'client'][limiterDecisionOf(decision)] += 1;
      const { earnedBanLevel: level } = decision;
      if (level > 0) {
        this.bans[level]! += 1;
      }
    }
  }

  /** Unknown paths share one label: callers could create any number of them. */
  private durationsOf(request: FastifyRequest, { statusCode: status }: FastifyReply): Durations {
    const { method } = request;
    const operation = routeOf(request).url ?? 'unknown';
    const name = `${method} ${operation} ${status}`;
    const durations = this.durations.get(name) ?? new Durations({ operation, method, status });
    this.durations.set(name, durations);
    return durations;
  }
}

function samplesOf(values: Values): Sample[] {
  return typeof values === 'number' ? [[{}, values]] : values;
}

/** Samples of a metric with one label. */
function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
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
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    read().then(
      (metrics) => response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
  // Who closes only the sending side still reads.
  Object.assign(server, { httpAllowHalfOpen: true });
  await explainAddress('METRICS_PORT', address, () => once(server.unref().listen(address), 'listening'));
}

function zeros<Name extends string | number>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

@Module({
  imports: [QuotasModule, WebhooksModule, HealthModule],
  providers: [MetricsService],
  exports: [MetricsService],
})
export class MetricsModule {}
