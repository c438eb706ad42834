import cluster from 'node:cluster';
import type { Provider } from '@nestjs/common';
import { Clock, SystemClock } from '#libs/clock';
import { SETTINGS, type Settings } from '../../../settings';
import { MemoryQuotaStore } from '../counting/memory-quota-store';
import { QuotaRecords } from '../counting/quota-records';
import { QuotaStore } from '../counting/quota-store';
import { WorkerQuotaStore } from '../workers/worker-quota-store';
import { FleetQuotaStore } from './fleet-quota-store';
import { connectRedis } from './redis-connection';
import { RedisQuotaStore } from './redis-quota-store';
import { REDIS_BUDGET_MS } from './script-calls';

/** Real time that decides how a request is counted: tests, which run on any machine, have more of it. */
export const REDIS_BUDGET = Symbol('REDIS_BUDGET');
export const REDIS_BUDGET_OF_SERVICE: Provider = { provide: REDIS_BUDGET, useValue: REDIS_BUDGET_MS };

/** One process counts in its memory, or in that of the process which started it; several instances count together in Redis. */
export const QUOTA_STORE: Provider = {
  provide: QuotaStore,
  inject: [SETTINGS, QuotaRecords, Clock, REDIS_BUDGET],
  useFactory: (
    { redisUrl, instances }: Settings,
    records: QuotaRecords,
    clock: Clock,
    budgetMs: number,
  ): QuotaStore => {
    const shares = redisUrl === undefined ? 1 : instances;
    const alone = cluster.isWorker
      ? new WorkerQuotaStore(process, clock)
      : new MemoryQuotaStore(records, clock, shares);
    if (redisUrl === undefined) {
      return alone;
    }
    const client = connectRedis(redisUrl);
    // Redis's own clock is the one that all instances share. Another clock than the system's is a test's.
    const testClock = clock instanceof SystemClock ? undefined : () => clock.now();
    const together = new RedisQuotaStore(client, records, testClock, budgetMs);
    return new FleetQuotaStore(client, together, alone, clock, instances);
  },
};
