import { DAY_MS, ManualClock } from '#libs/clock';
import { type BanState, type Decision, newBanState } from '../../../src/modules/quotas/rules/decision';
import { MemoryQuotaStore } from '../../../src/modules/quotas/stores/memory-quota-store';
import type { QuotaRecords } from '../../../src/modules/quotas/stores/quota-records';
import { addressSubject } from '../../../src/modules/quotas/request-limiter';
import type { ClientSubject } from '../../../src/modules/quotas/stores/quota-store';

const MINUTE = 60_000;

/** What the store remembers beyond itself, in memory: how it is written down is tested over HTTP. */
class Records {
  readonly counts = new Map<number, number>();
  readonly bans = new Map<number, BanState>();
  lookUps = 0;
  /** What a flush answers: false while the database is away. */
  reachable = true;

  count(clientId: number, _windows: object, requests: number): void {
    this.counts.set(clientId, (this.counts.get(clientId) ?? 0) + requests);
  }
  saveBan(keyId: number, bans: BanState): void {
    this.bans.set(keyId, { ...bans });
  }
  hasUnsavedBan(): boolean {
    return false;
  }
  read(clientId: number, keyId: number): ReturnType<QuotaRecords['read']> {
    this.lookUps += 1;
    const requests = this.counts.get(clientId) ?? 0;
    const day = Math.floor(clock.now() / DAY_MS);
    const ban = this.bans.get(keyId) ?? newBanState();
    return Promise.resolve({ day, requests, minuteStart: 0, minuteCount: 0, resetAt: 0, ban });
  }
  flush(): Promise<boolean> {
    return Promise.resolve(this.reachable);
  }
}

let clock: ManualClock;
let records: Records;
let store: MemoryQuotaStore;

beforeEach(() => {
  jest.useFakeTimers();
  clock = new ManualClock();
  records = new Records();
  store = new MemoryQuotaStore(records as unknown as QuotaRecords, clock);
});
afterEach(() => {
  store.onModuleDestroy();
  jest.useRealTimers();
});

function aClient(id: number, perMinute = 60): ClientSubject {
  return { kind: 'client', clientId: id, keyId: id + 1_000, limits: { perMinute, perDay: 1_000 } };
}

async function sweepAfter(milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  await jest.advanceTimersByTimeAsync(10_000);
}

describe('what is idle leaves', () => {
  it('clients and keys after ten idle minutes', async () => {
    await Promise.all(Array.from({ length: 50 }, async (_, id) => store.take(aClient(id))));
    await sweepAfter(10 * MINUTE);
    expect(store.size).toMatchObject({ clients: 50, keys: 50 });
    await store.take(aClient(7));
    await sweepAfter(1_000);
    expect(store.size).toMatchObject({ clients: 1, keys: 1 });
  });

  it('keeps counts until they are saved', async () => {
    await store.take(aClient(1));
    records.reachable = false;
    await sweepAfter(11 * MINUTE);
    expect(store.size.clients).toBe(1);
    records.reachable = true;
    await sweepAfter(0);
    expect(store.size.clients).toBe(0);
  });

  it('keeps the count of the day for a returning client', async () => {
    await store.take(aClient(1));
    await sweepAfter(11 * MINUTE);
    const { standings } = await store.take(aClient(1));
    expect(standings.map(({ remaining }) => remaining)).toEqual([59, 998]);
  });

  it('removes addresses once their minute is over', async () => {
    for (let host = 0; host < 250; host += 1) void store.take(addressSubject(`192.0.2.${host}`));
    await sweepAfter(MINUTE - 1);
    expect(store.size.addresses).toBe(250);
    await sweepAfter(1);
    expect(store.size.addresses).toBe(0);
  });

  it('but a client with a running series of refusals stays, which is saved nowhere', async () => {
    const subject = { ...aClient(1), limits: { perMinute: 9, perDay: 1 } };
    await store.take(subject);
    await store.take(subject);
    await sweepAfter(11 * MINUTE);
    expect(store.size).toMatchObject({ clients: 1, keys: 1 });
  });

  it('a ban is kept for a returning client', async () => {
    const subject = { ...aClient(1), limits: { perMinute: 1, perDay: 100 } };
    const takeTimes = async (count: number) => {
      for (let request = 0; request < count; request += 1) await store.take(subject);
    };
    records.bans.set(subject.keyId, { ...newBanState(), level: 2, bannedUntil: clock.now() });
    await takeTimes(2);
    clock.advance(1_000);
    await takeTimes(11);
    await sweepAfter(11 * MINUTE);
    expect(store.size.keys).toBe(0);
    expect(await store.take(subject)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 49 * 60 });
  });
});

it('keeps at most 200,000 addresses, and evicts the oldest', () => {
  void store.take(addressSubject('192.0.2.1'));
  const { limits } = addressSubject('192.0.2.1');
  for (let network = 0; network < 200_000; network += 1) {
    void store.take({ kind: 'address', address: `network ${network}`, limits });
  }
  expect(store.size.addresses).toBe(200_000);
  const { standings } = store.take(addressSubject('192.0.2.1')) as Decision;
  expect(standings[0]!.remaining).toBe(59);
});

it('the first requests of a client share one lookup and one quota', async () => {
  const decisions = await Promise.all(Array.from({ length: 200 }, async () => store.take(aClient(1))));
  expect(decisions.filter(({ outcome }) => outcome === 'allowed')).toHaveLength(60);
  expect(records.lookUps).toBe(1);
});

it('a failed lookup fails its requests, and the next request looks up again', async () => {
  jest.spyOn(records, 'read').mockRejectedValueOnce(new Error('database is away'));
  await expect(Promise.resolve(store.take(aClient(1)))).rejects.toThrow('database is away');
  expect((await store.take(aClient(1))).outcome).toBe('allowed');
});

it('a client in memory is answered at once, without a promise', async () => {
  await store.take(aClient(1));
  expect(store.take(aClient(1))).not.toBeInstanceOf(Promise);
  expect(store.take(addressSubject('192.0.2.1'))).not.toBeInstanceOf(Promise);
});

describe('one of three instances that count alone', () => {
  const free: ClientSubject = { ...aClient(1), limits: { perMinute: 60, perDay: 90 } };
  let share: MemoryQuotaStore;

  beforeEach(() => (share = new MemoryQuotaStore(records as unknown as QuotaRecords, clock, 3)));
  afterEach(() => share.onModuleDestroy());

  /** How many of these requests are let in when each is answered 304. */
  async function letInRefunded(requests: number): Promise<number> {
    let letIn = 0;
    for (let sent = 0; sent < requests; sent += 1) {
      const taken = await share.take(free);
      if (taken.outcome === 'allowed') {
        letIn += 1;
        await share.refund(free, taken);
      }
    }
    return letIn;
  }

  it('refunds at most its share of the minute', async () => {
    expect(await letInRefunded(45)).toBe(40);
  });

  it('refunds at most its share of the whole day, whatever was used before', async () => {
    records.counts.set(1, 30);
    expect(await letInRefunded(40)).toBe(40);
    clock.advance(MINUTE);
    // A third of the day's 90 is refunded, of which 20 were before, and a third of the 60 that were left of it counts.
    expect(await letInRefunded(40)).toBe(30 + 20 - 40);
  });

  it('has its share of a new day from its first request on', async () => {
    records.counts.set(1, 89);
    expect((await share.take(free)).outcome).toBe('allowed');
    clock.advance(24 * 60 * MINUTE);
    const { standings } = await share.take(free);
    expect(standings.map(({ limit, remaining }) => [limit, remaining])).toEqual([
      [20, 19],
      [30, 29],
    ]);
  });
});
