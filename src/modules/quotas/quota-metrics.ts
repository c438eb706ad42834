import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import { BAN_DURATIONS_MS } from './rules/bans';
import { QuotaCounters } from './counters/quota-counters';

const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'];

export function countDecisions(app: NestFastifyApplication, registers: Registry[]): void {
  const counters = app.get(QuotaCounters);
  new Gauge({
    name: 'petstore_limits_degraded',
    help: 'Whether limits are counted by this instance alone because Redis is unavailable (1) or not (0).',
    aggregator: 'max',
    registers,
    collect() {
      this.set(Number(counters.countsAlone));
    },
  });
  const decisions = new Counter({
    name: 'petstore_limiter_decisions_total',
    help: 'Decisions of the limiter for clients, and for addresses without a valid key: allowed, over the limit of the minute or of the day (429), or banned (403).',
    labelNames: ['subject', 'decision'],
    registers,
  });
  const bans = new Counter({
    name: 'petstore_limiter_bans_total',
    help: 'Bans that keys earned by requests to this instance, by level: 1 is the shortest.',
    labelNames: ['level'],
    registers,
  });
  // Start every series at 0, because Prometheus' `rate` misses the first increment of a new series.
  LIMITER_DECISIONS.forEach((decision) => {
    ['client', 'address'].forEach((subject) => decisions.inc({ subject, decision }, 0));
  });
  BAN_DURATIONS_MS.forEach((_duration, index) => bans.inc({ level: index + 1 }, 0));
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onResponse', ({ client }, _reply, done) => {
      if (client?.decision) {
        const { exhausted, outcome, isNewlyBanned, ban } = client.decision;
        const subject = client.key === null ? 'address' : 'client';
        decisions.inc({ subject, decision: exhausted ?? outcome });
        if (isNewlyBanned) {
          bans.inc({ level: ban!.level });
        }
      }
      done();
    });
}
