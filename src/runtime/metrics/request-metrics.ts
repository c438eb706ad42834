import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, type Metric, type Registry } from 'prom-client';
import { routeOf } from '#libs/http';
import { BAN_LEVELS, LIMITER_DECISIONS, type LimiterDecision, limiterDecisionOf } from '../../modules/quotas';

/** A sample of a histogram; the suffix of its name says which (`_bucket`, `_sum`, `_count`). */
interface DurationSample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts of one operation and method, in plain numbers: prom-client looks up its labels at each count. */
class OperationMetrics {
  private readonly byStatus = new Map<number, number>();
  /** Responses by the lowest bound that they did not exceed; the last element counts those that exceeded all. */
  private readonly byLatency = new Array<number>(LATENCY_SECONDS.length + 1).fill(0);
  private seconds = 0;
  private readonly labels: { operation: string; method: string };

  constructor(operation: string, method: string) {
    this.labels = { operation, method };
  }

  add(status: number, seconds: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    let bound = 0;
    while (bound < LATENCY_SECONDS.length && seconds > LATENCY_SECONDS[bound]!) {
      bound += 1;
    }
    this.byLatency[bound]! += 1;
    this.seconds += seconds;
  }

  requests(): { labels: Record<string, string | number>; value: number }[] {
    return [...this.byStatus].map(([status, value]) => ({ labels: { ...this.labels, status }, value }));
  }

  /** The samples of a histogram of this name; buckets are cumulative. */
  durations(name: string): DurationSample[] {
    const { labels } = this;
    let count = 0;
    const buckets = this.byLatency.map((answers, index) => {
      count += answers;
      const le = LATENCY_SECONDS[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.seconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** The counts of all operations and methods that were requested so far. */
class MetricsByOperation {
  private readonly byOperation = new Map<string, Map<string, OperationMetrics>>();

  of(operation: string, method: string): OperationMetrics {
    return this.byOperation.get(operation)?.get(method) ?? this.begin(operation, method);
  }

  all(): OperationMetrics[] {
    return [...this.byOperation.values()].flatMap((byMethod) => [...byMethod.values()]);
  }

  private begin(operation: string, method: string): OperationMetrics {
    const byMethod = this.byOperation.get(operation) ?? new Map<string, OperationMetrics>();
    const metrics = new OperationMetrics(operation, method);
    this.byOperation.set(operation, byMethod.set(method, metrics));
    return metrics;
  }
}

type Decisions = Record<LimiterDecision, number>;

/**
 * Metrics of every response. The busiest ones are counted in plain numbers and read at each scrape: prom-client looks up
 * its labels at each count, and for three metrics that takes a tenth of the time of a request.
 */
export class RequestMetrics {
  private readonly operations = new MetricsByOperation();
  // All of them start at 0: the rate of a series that did not exist yet misses its first increment.
  private readonly decisions = { client: noDecisions(), address: noDecisions() };
  private readonly bans: Counter<'level'>;
  private readonly replays: Counter<'operation'>;

  constructor(private readonly registry: Registry) {
    this.addRequests();
    this.addDurations();
    this.addDecisions();
    this.bans = new Counter({
      name: 'petstore_limiter_bans_total',
      help: 'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
      labelNames: ['level'],
      registers: [registry],
    });
    BAN_LEVELS.forEach((level) => this.bans.inc({ level }, 0));
    this.replays = new Counter({
      name: 'petstore_idempotent_replays_total',
      help: 'Responses replayed for a repeated Idempotency-Key.',
      labelNames: ['operation'],
      registers: [registry],
    });
  }

  /** Counts every response. Unknown paths share one label: callers could create any number of them. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      this.count(request, reply);
      done();
    });
  }

  private count(request: FastifyRequest, reply: FastifyReply): void {
    const operation = routeOf(request).url ?? 'unknown';
    this.operations.of(operation, request.method).add(reply.statusCode, reply.elapsedTime / 1000);
    const decision = limiterDecisionOf(request);
    if (decision !== null) {
      this.decisions[request.verdict!.subject.kind][decision] += 1;
      const { earnedBanLevel: level } = request.verdict!.decision;
      if (level > 0) {
        this.bans.inc({ level });
      }
    }
    if (request.method === 'POST' && reply.hasHeader('Idempotent-Replayed')) {
      this.replays.inc({ operation });
    }
  }

  private addRequests(): void {
    const { operations, registry } = this;
    new Counter({
      name: 'petstore_http_requests_total',
      help: 'Responses, by operation (route pattern), method and status.',
      labelNames: ['operation', 'method', 'status'],
      registers: [registry],
      collect() {
        this.reset();
        operations.all().forEach((metrics) => {
          metrics.requests().forEach(({ labels, value }) => this.inc(labels, value));
        });
      },
    });
  }

  /** prom-client has no histogram with settable values, so this implements what its registry needs. */
  private addDurations(): void {
    const name = 'petstore_http_request_duration_seconds';
    const help = 'Time from the request to the end of the response.';
    const read = () => this.operations.all().flatMap((metrics) => metrics.durations(name));
    const histogram = {
      name,
      help,
      get: () => Promise.resolve({ name, help, type: 'histogram', values: read(), aggregator: 'sum' }),
    };
    this.registry.registerMetric(histogram as unknown as Metric);
  }

  private addDecisions(): void {
    const { decisions, registry } = this;
    new Counter({
      name: 'petstore_limiter_decisions_total',
      help: 'Decisions of the limiter for clients, and for addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
      labelNames: ['subject', 'decision'],
      registers: [registry],
      collect() {
        this.reset();
        for (const subject of ['client', 'address'] as const) {
          for (const decision of LIMITER_DECISIONS) {
            this.inc({ subject, decision }, decisions[subject][decision]);
          }
        }
      },
    });
  }
}

function noDecisions(): Decisions {
  return Object.fromEntries(LIMITER_DECISIONS.map((decision) => [decision, 0])) as Decisions;
}
