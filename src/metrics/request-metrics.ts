import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import { routeOf } from '#libs/http';
import {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from '../quotas';

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What is counted of one operation, method and status. */
interface Series {
  requests: Counter.Internal;
  duration: Histogram.Internal<string>;
}

/** What is counted of every answer. Labels are hashed whenever they are given, so each combination is given once. */
export class RequestMetrics {
  private readonly requests: Counter;
  private readonly duration: Histogram;
  private readonly series = new Map<string, Series>();
  private readonly decisions: Record<'client' | 'address', Record<LimiterDecision, Counter.Internal>>;
  private readonly bans: Counter.Internal[];
  private readonly replays: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'petstore_http_requests_total',
      help: 'Requests answered, by operation (route pattern), method and status.',
      labelNames: ['operation', 'method', 'status'],
      registers,
    });
    this.duration = new Histogram({
      name: 'petstore_http_request_duration_seconds',
      help: 'Time from the request to the end of its answer.',
      labelNames: ['operation', 'method'],
      buckets: LATENCY_SECONDS,
      registers,
    });
    this.replays = new Counter({
      name: 'petstore_idempotent_replays_total',
      help: 'Requests answered with what an earlier one with the same Idempotency-Key was answered.',
      labelNames: ['operation'],
      registers,
    });
    this.decisions = decisionCounters(registry);
    this.bans = banCounters(registry);
  }

  /** Has every answer counted. Unknown paths share one label: a label for each would be anybody's to multiply. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      this.count(request, reply);
      done();
    });
  }

  private count(request: FastifyRequest, reply: FastifyReply): void {
    const operation = routeOf(request).url ?? 'unknown';
    const { requests, duration } = this.seriesOf(operation, request.method, reply.statusCode);
    requests.inc();
    duration.observe(reply.elapsedTime / 1000);
    const decision = limiterDecisionOf(request, reply.statusCode);
    if (decision !== null) {
      this.decisions[request.quotaUse!.subject.kind][decision].inc();
      if (decision === 'banned') {
        this.bans[earnedBanLevel(request)]?.inc();
      }
    }
    if (request.method === 'POST' && reply.hasHeader('Idempotent-Replayed')) {
      this.replays.inc({ operation });
    }
  }

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
}

/** All of them are there from the start, with 0: a rate over what has not been there yet misses its first step. */
function decisionCounters(registry: Registry): RequestMetrics['decisions'] {
  const counter = new Counter({
    name: 'petstore_limiter_decisions_total',
    help: 'What the limiter decided of clients and of addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
    labelNames: ['subject', 'decision'],
    registers: [registry],
  });
  const countersOf = (subject: string) =>
    Object.fromEntries(
      LIMITER_DECISIONS.map((decision) => [decision, started(counter, { subject, decision })]),
    ) as Record<LimiterDecision, Counter.Internal>;
  return { client: countersOf('client'), address: countersOf('address') };
}

/** By level; nobody is banned to level 0. */
function banCounters(registry: Registry): Counter.Internal[] {
  const counter = new Counter({
    name: 'petstore_limiter_bans_total',
    help: 'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
    labelNames: ['level'],
    registers: [registry],
  });
  const levels: Counter.Internal[] = [];
  for (const level of BAN_LEVELS) {
    levels[level] = started(counter, { level });
  }
  return levels;
}

function started(counter: Counter, labels: Record<string, string | number>): Counter.Internal {
  counter.inc(labels, 0);
  return counter.labels(labels);
}
