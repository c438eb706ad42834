import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { routeOf } from '#libs/http';
import {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from '../../modules/quotas';
import { FiguresByOperation } from './operation-figures';
import { type ReadMetric, type Sample, addReadMetric } from './read-metric';

type Decisions = Record<LimiterDecision, number>;

const DURATION = 'petstore_http_request_duration_seconds';

/** What is counted of every answer. */
export class RequestMetrics {
  private readonly operations = new FiguresByOperation();
  // All of them are there from the start, with 0: a rate over what has not been there yet misses its first step.
  private readonly decisions = { client: noDecisions(), address: noDecisions() };
  private readonly bans = new Map(BAN_LEVELS.map((level) => [level, 0]));
  private readonly replays = new Map<string, number>();

  constructor(registry: Registry) {
    this.metrics().forEach((metric) => addReadMetric(registry, metric));
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
    this.operations.of(operation, request.method).add(reply.statusCode, reply.elapsedTime / 1000);
    const decision = limiterDecisionOf(request, reply.statusCode);
    if (decision !== null) {
      this.decisions[request.quotaUse!.subject.kind][decision] += 1;
      if (decision === 'banned') {
        this.countBan(earnedBanLevel(request));
      }
    }
    if (request.method === 'POST' && reply.hasHeader('Idempotent-Replayed')) {
      this.replays.set(operation, (this.replays.get(operation) ?? 0) + 1);
    }
  }

  /** Nobody is banned to level 0. */
  private countBan(level: number): void {
    const bans = this.bans.get(level);
    if (bans !== undefined) {
      this.bans.set(level, bans + 1);
    }
  }

  private metrics(): ReadMetric[] {
    return [
      {
        name: 'petstore_http_requests_total',
        help: 'Requests answered, by operation (route pattern), method and status.',
        type: 'counter',
        read: () => this.operations.all().flatMap((figures) => figures.requests()),
      },
      {
        name: DURATION,
        help: 'Time from the request to the end of its answer.',
        type: 'histogram',
        read: () => this.operations.all().flatMap((figures) => figures.durations(DURATION)),
      },
      {
        name: 'petstore_idempotent_replays_total',
        help: 'Requests answered with what an earlier one with the same Idempotency-Key was answered.',
        type: 'counter',
        read: () => countsBy(this.replays, 'operation'),
      },
      {
        name: 'petstore_limiter_decisions_total',
        help: 'What the limiter decided of clients and of addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
        type: 'counter',
        read: () => [
          ...countsBy(Object.entries(this.decisions.client), 'decision', { subject: 'client' }),
          ...countsBy(Object.entries(this.decisions.address), 'decision', { subject: 'address' }),
        ],
      },
      {
        name: 'petstore_limiter_bans_total',
        help: 'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
        type: 'counter',
        read: () => countsBy(this.bans, 'level'),
      },
    ];
  }
}

function noDecisions(): Decisions {
  return Object.fromEntries(LIMITER_DECISIONS.map((decision) => [decision, 0])) as Decisions;
}

/** @param label names what the counts are by */
function countsBy(
  counts: Iterable<[string | number, number]>,
  label: string,
  labels: Record<string, string> = {},
): Sample[] {
  return [...counts].map(([counted, value]) => ({ labels: { ...labels, [label]: counted }, value }));
}
