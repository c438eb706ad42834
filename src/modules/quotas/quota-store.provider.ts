import cluster from 'node:cluster';
import type { Provider } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { Clock } from '#libs/clock';
import { SETTINGS, type Settings } from '../../settings';
import { MemoryQuotaStore, sharesOf } from './counting/memory-quota-store';
import { QuotaRecords } from './counting/quota-records';
import { QuotaStore } from './counting/quota-store';
import { WorkerQuotaStore } from './workers/worker-quota-store';
import { FleetQuotaStore } from './fleet/fleet-quota-store';
import { connectRedis } from './fleet/redis-connection';
import { RedisQuotaStore } from './fleet/redis-quota-store';

export const REDIS_CONNECTION = Symbol('REDIS_CONNECTION');
/** Timeout of one call, in milliseconds. After it the request is decided without Redis. */
export const REDIS_BUDGET = Symbol('REDIS_BUDGET');

export const REDIS: Provider[] = [
  { provide: REDIS_BUDGET, useValue: 50 },
  {
    provide: REDIS_CONNECTION,
    inject: [SETTINGS],
    useFactory: ({ redisUrl }: Settings) => (redisUrl === undefined ? null : connectRedis(redisUrl)),
  },
];

/** Counts in memory (of the primary process if there are workers), or in Redis if REDIS_URL is set. */
export const QUOTA_STORE: Provider = {
  provide: QuotaStore,
  inject: [SETTINGS, QuotaRecords, Clock, REDIS_CONNECTION, REDIS_BUDGET],
  useFactory: (
    settings: Settings,
    records: QuotaRecords,
    clock: Clock,
    redis: Redis | Cluster | null,
    budgetMs: number,
  ): QuotaStore => {
    const alone = cluster.isWorker
      ? new WorkerQuotaStore(process, clock)
      : new MemoryQuotaStore(records, clock, sharesOf(settings));
    if (redis === null) {
      return alone;
    }
    const together = new RedisQuotaStore(redis, records, budgetMs);
    return new FleetQuotaStore(redis, together, alone, clock, settings.instances);
  },
};
