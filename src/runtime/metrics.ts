import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type Metric,
  Registry,
  collectDefaultMetrics,
} from 'prom-client';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeOf } from '#libs/http';
import { BAN_LEVELS, LIMITER_DECISIONS, limiterDecisionOf } from '../modules/quotas';
import type { Settings } from '../settings';
import { explainAddress } from './failures';

type Labels = Record<string, string | number>;
/** The suffix is that of a histogram's name. */
type Sample = [labels: Labels, value: number, suffix?: string];

/** One value, or one for each combination of labels. */
type Values = number | Sample[];

/** The service's metrics for Prometheus, on their own port. Values are counted elsewhere and read at each scrape. */
@Injectable()
export class MetricsService {
  private readonly registry = new Registry();

  /** Adds the usual metrics of the process and Node.js. A worker tells all of its metrics to the first process. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    const limit = Math.min(process.constrainedMemory() || Infinity, totalmem());
    this.gauge(
      'petstore_memory_limit_bytes',
      'The memory that the service may use: that of the container, or of the machine.',
      () => limit,
      { aggregator: 'max' },
    );
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
  histogram(name: string, help: string, read: () => Sample[]): void {
    const get = () => {
      const values = read().map(([labels, value, suffix]) => ({
        metricName: `${name}_${suffix}`,
        labels,
        value,
      }));
      return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
    };
    this.registry.registerMetric({ name, help, get } as unknown as Metric);
  }
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

function samplesOf(values: Values): Sample[] {
  return typeof values === 'number' ? [[{}, values]] : values;
}

/** Samples of a metric with one label. */
export function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The counts of one operation and method. */
class OperationMetrics {
  private readonly byStatus = new Map<number, number>();
  /** Responses by the lowest bound that they did not exceed; the last element counts those that exceeded all. */
  private readonly byLatency = new Array<number>(LATENCY_SECONDS.length + 1).fill(0);
  private seconds = 0;

  constructor(private readonly labels: Labels) {}

  add(status: number, seconds: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    let bound = 0;
    while (bound < LATENCY_SECONDS.length && seconds > LATENCY_SECONDS[bound]!) {
      bound += 1;
    }
    this.byLatency[bound]! += 1;
    this.seconds += seconds;
  }

  requests(): Sample[] {
    return [...this.byStatus].map(([status, value]) => [{ ...this.labels, status }, value]);
  }

  /** The samples of a histogram, by the suffix of its name; buckets are cumulative. */
  durations(): Sample[] {
    const { labels } = this;
    let count = 0;
    const buckets = this.byLatency.map((responses, index): Sample => {
      count += responses;
      return [{ le: LATENCY_SECONDS[index] ?? '+Inf', ...labels }, count, 'bucket'];
    });
    return [...buckets, [labels, this.seconds, 'sum'], [labels, count, 'count']];
  }
}

/**
 * Metrics of every response, in plain numbers that are read at each scrape: prom-client looks up its labels at each count,
 * and for three metrics that takes a tenth of the time of a request.
 */
export class RequestMetrics {
  private readonly operations = new Map<string, OperationMetrics>();
  // All of these start at 0: the rate of a series that did not exist yet misses its first increment.
  private readonly decisions = { client: zeros(LIMITER_DECISIONS), address: zeros(LIMITER_DECISIONS) };
  private readonly bans = zeros(BAN_LEVELS);
  private readonly replays: Record<string, number> = {};

  constructor(metrics: MetricsService) {
    const operations = () => [...this.operations.values()];
    metrics.counter(
      'petstore_http_requests_total',
      'Responses, by operation (route pattern), method and status.',
      () => operations().flatMap((counts) => counts.requests()),
      ['operation', 'method', 'status'],
    );
    metrics.histogram(
      'petstore_http_request_duration_seconds',
      'Time from the request to the end of the response.',
      () => operations().flatMap((counts) => counts.durations()),
    );
    metrics.counter(
      'petstore_limiter_decisions_total',
      'Decisions of the limiter for clients, and for addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
      () =>
        Object.entries(this.decisions).flatMap(([subject, counts]) =>
          Object.entries(counts).map(([decision, value]): Sample => [{ subject, decision }, value]),
        ),
      ['subject', 'decision'],
    );
    metrics.counter(
      'petstore_limiter_bans_total',
      'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
      () => by('level', this.bans),
      ['level'],
    );
    metrics.counter(
      'petstore_idempotent_replays_total',
      'Responses replayed for a repeated Idempotency-Key.',
      () => by('operation', this.replays),
      ['operation'],
    );
  }

  /** Counts every response. Unknown paths share one label: callers could create any number of them. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      this.count(request, reply);
      done();
    });
  }

  private count(request: FastifyRequest, reply: FastifyReply): void {
    const { method } = request;
    const operation = routeOf(request).url ?? 'unknown';
    this.countsOf(operation, method).add(reply.statusCode, reply.elapsedTime / 1000);
    const decision = limiterDecisionOf(request);
    if (decision !== null) {
      this.decisions[request.verdict!.subject.kind][decision] += 1;
      const { earnedBanLevel: level } = request.verdict!.decision;
      if (level > 0) {
        this.bans[level]! += 1;
      }
    }
    if (method === 'POST' && reply.hasHeader('Idempotent-Replayed')) {
      this.replays[operation] = (this.replays[operation] ?? 0) + 1;
    }
  }

  private countsOf(operation: string, method: string): OperationMetrics {
    const key = `${method} ${operation}`;
    const known = this.operations.get(key);
    if (known !== undefined) {
      return known;
    }
    const counts = new OperationMetrics({ operation, method });
    this.operations.set(key, counts);
    return counts;
  }
}

function zeros<Name extends string | number>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
