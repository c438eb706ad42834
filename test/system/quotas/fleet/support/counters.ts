import { Logger } from '@nestjs/common';
import { newWindows, type Limits } from '../../../../../src/modules/quotas/rules/limits';
import type { QuotaRecords } from '../../../../../src/modules/quotas/counters/quota-records';
import type { LimitedCaller } from '../../../../../src/modules/quotas/counters/quota-counters';
import { RedisCounters } from '../../../../../src/modules/quotas/counters/redis-counters';
import type { ManualClock } from '../../../../support/manual-clock';
import { RedisOnClock } from '../../../../support/redis-clock';

/** A database that remembers nothing: every history starts anew. */
export const FORGETFUL = {
  count: () => undefined,
  saveBan: () => undefined,
  flushSoon: () => undefined,
  storeId: () => Promise.resolve('store'),
  windowsOf: () => Promise.resolve(newWindows()),
} as unknown as QuotaRecords;

const started: RedisCounters[] = [];

/** Starts counters with a connection and probes of their own, like those of one of two instances of the service. */
export async function startCounters(url: string, clock: ManualClock): Promise<RedisCounters> {
  Logger.overrideLogger(false);
  const counters = new RedisCounters(new RedisOnClock(url, clock), FORGETFUL, clock, 2);
  started.push(counters);
  await counters.onModuleInit();
  return counters;
}

export async function closeCounters(): Promise<void> {
  await Promise.all(started.splice(0).map((counters) => counters.onApplicationShutdown()));
}

const NEVER_BANNED = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };
let clients = 0;

/** Of limits without a day an address, otherwise a client. */
export function aClient(limits: Limits): LimitedCaller {
  clients += 1;
  const key = { id: clients, clientId: clients, ban: NEVER_BANNED, resetAt: 0 };
  return { key: limits.perDay === null ? null : key, tracker: String(clients), limits };
}
