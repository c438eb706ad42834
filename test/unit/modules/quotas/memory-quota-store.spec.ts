import { ManualClock } from '../../../support/manual-clock';
import type { BanState } from '../../../../src/modules/quotas/rules/decision';
import { newWindowState, type WindowState } from '../../../../src/modules/quotas/rules/limits';
import { MemoryQuotaStore } from '../../../../src/modules/quotas/stores/memory-quota-store';
import type { QuotaRecords, StoredUsage } from '../../../../src/modules/quotas/stores/quota-records';
import { addressClient } from '../../../../src/modules/quotas/request-limiter';
import type { LimitedClient, LimitedKey } from '../../../../src/modules/quotas/stores/quota-store';

const MINUTE = 60_000;

/** What the store remembers beyond itself, in memory: how it is written down is tested over HTTP. */
class Records {
  readonly counts = new Map<number, number>();
  readonly unsavedBans = new Set<number>();
  readonly refunds = new Map<number, number>();
  minute: Partial<WindowState> = {};
  lookUps = 0;

  count(clientId: number, _windows: object, requests: number): void {
    this.counts.set(clientId, (this.counts.get(clientId) ?? 0) + requests);
    if (requests < 0) this.refunds.set(clientId, (this.refunds.get(clientId) ?? 0) + 1);
  }
  saveBan(keyId: number, _bans: BanState): void {
    this.unsavedBans.add(keyId);
  }
  hasUnsavedBan(keyId: number): boolean {
    return this.unsavedBans.has(keyId);
  }
  usageOf(clientId: number): Promise<StoredUsage> {
    this.lookUps += 1;
    const windows = { ...newWindowState(clock.now()), ...this.minute };
    windows.dayCount = this.counts.get(clientId) ?? 0;
    windows.dayRefunds = this.refunds.get(clientId) ?? 0;
    return Promise.resolve({ windows, resetAt: 0 });
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

const NEVER_BANNED = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };

type KeyedClient = LimitedClient & { key: LimitedKey };

function aClient(id: number, perMinute = 60): KeyedClient {
  const key = { id: id + 1_000, clientId: id, ban: NEVER_BANNED, resetAt: 0 };
  return { key, tracker: `client:${id}`, limits: { perMinute, perDay: 1_000 } };
}

/** The client as a later read of the database has it. */
function changed(client: KeyedClient, key: Partial<LimitedKey>): KeyedClient {
  return { ...client, key: { ...client.key, ...key } };
}

async function takeTimes(count: number, client: LimitedClient): Promise<void> {
  for (let request = 0; request < count; request += 1) await store.take(client);
}

it('A client that returns after ten idle minutes is read again, and keeps the count and the refunds of its day', async () => {
  const client: LimitedClient = { ...aClient(1), limits: { perMinute: 60, perDay: 2 } };
  const remaining: number[] = [];
  for (let request = 0; request < 4; request += 1) {
    const { windows } = await store.refund(client, await store.take(client));
    remaining.push(windows[1]!.remaining);
    clock.advance(11 * MINUTE);
    await jest.advanceTimersByTimeAsync(12 * MINUTE);
  }
  expect([records.lookUps > 1, ...remaining]).toEqual([true, 2, 2, 1, 0]);
});

it('What the database says of a key lifts no earned ban until that is saved, and then only with a later change', async () => {
  const client = aClient(1, 1);
  await takeTimes(2, client);
  clock.advance(2_000);
  await takeTimes(11, client);
  expect((await store.take(client)).outcome).toBe('banned');
  const unbanned = changed(client, { ban: { ...NEVER_BANNED, changedAt: 8 } });
  expect((await store.take(unbanned)).outcome).toBe('banned');
  records.unsavedBans.clear();
  expect((await store.take(client)).outcome).toBe('banned');
  expect((await store.take(unbanned)).outcome).toBe('limited');
  const stale = { ...NEVER_BANNED, bannedUntil: Infinity, changedAt: 7 };
  expect((await store.take(changed(client, { ban: stale }))).outcome).toBe('limited');
});

it('keeps at most 200,000 addresses, and evicts the oldest', async () => {
  await store.take(addressClient('192.0.2.1'));
  const { limits } = addressClient('192.0.2.1');
  for (let network = 0; network < 200_000; network += 1) {
    void store.take({ key: null, tracker: `network ${network}`, limits });
  }
  const { windows } = await store.take(addressClient('192.0.2.1'));
  expect(windows[0]!.remaining).toBe(59);
});

describe('one of three instances that count alone', () => {
  const free: LimitedClient = { ...aClient(1), limits: { perMinute: 60, perDay: 90 } };
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

  it.each([
    ['all', 60, 19],
    ['more than its share', 21, 19],
    ['less than its share', 5, 4],
    ['one', 1, 0],
    ['nothing', 0, 0],
  ])(
    'begins with what Redis has left of the minute, as seen or as saved by others, but at most its share: %s',
    async (_what, left, remaining) => {
      const now = clock.now();
      records.counts.set(1, 60);
      const counted = {
        ...newWindowState(now),
        minuteStart: now - 1_000,
        minuteCount: 60 - left,
        dayCount: 40,
      };
      share.startFrom(free, counted);
      const { outcome, windows } = await share.take(free);
      expect(outcome).toBe(left === 0 ? 'limited' : 'allowed');
      expect(windows).toMatchObject([
        { limit: 20, remaining, resetAt: now - 1_000 + MINUTE },
        { limit: 70, remaining: left === 0 ? 10 : 9 },
      ]);
      records.minute = { minuteStart: counted.minuteStart, minuteCount: counted.minuteCount };
      share.clear();
      expect((await share.take(free)).windows[0]).toMatchObject({ limit: 20, remaining });
      const address = addressClient('192.0.2.1');
      share.startFrom(address, counted);
      expect((await share.take(address)).windows).toMatchObject([{ limit: 20, remaining }]);
    },
  );

  it('has its share of a new day from its first request on', async () => {
    records.counts.set(1, 89);
    expect((await share.take(free)).outcome).toBe('allowed');
    clock.advance(24 * 60 * MINUTE);
    const { windows } = await share.take(free);
    expect(windows.map(({ limit, remaining }) => [limit, remaining])).toEqual([
      [20, 19],
      [30, 29],
    ]);
  });
});
