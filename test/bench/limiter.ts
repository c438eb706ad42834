import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { AuditTrail } from '../../src/modules/audit';
import type { Caller, KeyHolder } from '../../src/modules/auth';
import { MemoryQuotaStore } from '../../src/modules/quotas/counting/memory-quota-store';
import { QuotaRecords } from '../../src/modules/quotas/counting/quota-records';
import { subjectOf } from '../../src/modules/quotas/counting/subject';
import { type Spread, spreadOf } from './harness/statistics';

export interface LimiterFigures {
  clients: number;
  decisionsPerSecond: Spread;
  /** Heap in use for a client with one key, when nothing waits to be written. */
  bytesPerClient: number;
}

const CLIENTS = 100_000;
const ROUNDS = 5;
/** Long enough for what was counted to be written once in it. */
const ROUND_MS = 1_500;
/** Then the event loop goes round, as requests would let it. */
const DECISIONS_PER_TURN = 10_000;

/** A database that has never seen anybody and takes whatever is written: the step in memory is what is measured. */
class EmptyRecords extends QuotaRecords {
  constructor(clock: Clock) {
    const database = new EmptyDatabase();
    super(database, clock, new AuditTrail(database, clock, { kind: 'service', name: 'service' }));
  }

  override usedOf(): Promise<{ requests: number; resetAt: number }> {
    return Promise.resolve({ requests: 0, resetAt: 0 });
  }

  override readBan(): Promise<null> {
    return Promise.resolve(null);
  }
}

class EmptyDatabase extends Database {
  constructor() {
    super({} as DataSource);
  }

  override query<Row>(): Promise<Row[]> {
    return Promise.resolve([]);
  }
}

/** As the authenticator and the key directory make it for each request. */
function callerOf(holder: KeyHolder): Caller {
  return { holder, refusal: null };
}

const HOLDER: Omit<KeyHolder, 'keyId' | 'clientId'> = {
  clientName: 'bench',
  plan: 'enterprise',
  perMinute: 1_000_000,
  perDay: 100_000_000,
  scopes: ['read'],
  last4: 'x7Qa',
  createdAt: 0,
  expiresAt: Infinity,
  overlapEndsAt: null,
};

async function heapUsed(): Promise<number> {
  if (!globalThis.gc) {
    throw new Error('The heap can only be measured with --expose-gc');
  }
  await nextTurn();
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** Takes requests for the time of a round, each of a random client. @returns decisions per second */
async function round(store: MemoryQuotaStore, holders: KeyHolder[]): Promise<number> {
  const startedAt = performance.now();
  let made = 0;
  while (performance.now() - startedAt < ROUND_MS) {
    for (const turn = made + DECISIONS_PER_TURN; made < turn; made += 1) {
      const holder = holders[Math.floor(Math.random() * holders.length)]!;
      const decision = store.take(subjectOf(callerOf(holder), '127.0.0.1'));
      if (decision instanceof Promise || decision.outcome !== 'allowed') {
        throw new Error('A request was not let through at once');
      }
    }
    await nextTurn();
  }
  return (made * 1_000) / (performance.now() - startedAt);
}

async function measure(): Promise<LimiterFigures> {
  const clock = new SystemClock();
  const records = new EmptyRecords(clock);
  const store = new MemoryQuotaStore(records, clock);
  const holders = Array.from({ length: CLIENTS }, (_none, id) => ({ ...HOLDER, keyId: id, clientId: id }));
  const before = await heapUsed();
  for (const holder of holders) {
    await store.take(subjectOf(callerOf(holder), '127.0.0.1'));
  }
  await records.flush();
  const bytesPerClient = ((await heapUsed()) - before) / CLIENTS;
  await round(store, holders);
  const rates: number[] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    rates.push(await round(store, holders));
  }
  store.onModuleDestroy();
  await records.onApplicationShutdown();
  return { clients: CLIENTS, decisionsPerSecond: spreadOf(rates), bytesPerClient };
}

void measure().then((figures) => process.stdout.write(`${JSON.stringify(figures)}\n`));
