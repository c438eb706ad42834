import cluster from 'node:cluster';
import type { Provider } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { SETTINGS, type Settings } from '../../../settings';
import { MemoryQuotaStore } from '../counting/memory-quota-store';
import { QuotaRecords } from '../counting/quota-records';
import { QuotaStore } from '../counting/quota-store';
import { WorkerQuotaStore } from '../workers/worker-quota-store';
import { FleetQuotaStore } from './fleet-quota-store';
import { connectRedis } from './redis-connection';
import { RedisQuotaStore } from './redis-quota-store';
import { REDIS_TIMING, type RedisTiming } from './script-calls';

export const TIMING_OF_REDIS = Symbol('TIMING_OF_REDIS');
export const REDIS_TIMING_PROVIDER: Provider = { provide: TIMING_OF_REDIS, useValue: REDIS_TIMING };

/** Counts in memory (of the primary process if there are workers), or in Redis if REDIS_URL is set. */
export const QUOTA_STORE: Provider = {
  provide: QuotaStore,
  inject: [SETTINGS, QuotaRecords, Clock, TIMING_OF_REDIS],
  useFactory: (
    { redisUrl, instances }: Settings,
    records: QuotaRecords,
    clock: Clock,
    timing: RedisTiming,
  ): QuotaStore => {
    const shares = redisUrl === undefined ? 1 : instances;
    const alone = cluster.isWorker
      ? new WorkerQuotaStore(process, clock)
      : new MemoryQuotaStore(records, clock, shares);
    if (redisUrl === undefined) {
      return alone;
    }
    const client = connectRedis(redisUrl);
    const together = new RedisQuotaStore(client, records, timing);
    return new FleetQuotaStore(client, together, alone, clock, instances);
  },
};
