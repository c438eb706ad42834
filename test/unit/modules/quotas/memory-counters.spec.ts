import { ManualClock } from '../../../support/manual-clock';
import { newWindows, startOfDay, type Windows } from '../../../../src/modules/quotas/rules/limits';
import { MemoryCounters } from '../../../../src/modules/quotas/counters/memory-counters';
import { AloneCounters } from '../../../../src/modules/quotas/counters/alone-counters';
import type { QuotaRecords } from '../../../../src/modules/quotas/counters/quota-records';
import { anonymousClient } from '../../../../src/modules/quotas/request-limiter';
import type { LimitSubject } from '../../../../src/modules/quotas/counters/quota-counters';
import type { ClientKey } from '../../../../src/modules/auth';
import { aKey, MINUTE, NEVER_BANNED } from '../../../support/limits';

/** Stands in for the records in the database, whose tests use HTTP. It keeps the saved windows of each client. */
class Records {
  readonly saved = new Map<number, Windows>();
  lookUps = 0;

  count(clientId: number, windows: Windows): void {
    this.saved.set(clientId, structuredClone(windows));
  }
  saveBan(): void {}
  flushSoon(): void {}
  windowsOf({ clientId }: ClientKey): Promise<Windows> {
    this.lookUps += 1;
    return Promise.resolve(structuredClone(this.saved.get(clientId)) ?? newWindows());
  }
}

let clock: ManualClock;
let records: Records;
let counters: MemoryCounters;

beforeEach(() => {
  jest.useFakeTimers();
  clock = new ManualClock();
  records = new Records();
  counters = new MemoryCounters(records as unknown as QuotaRecords, clock);
  counters.onModuleInit();
});
afterEach(async () => {
  await counters.onModuleDestroy();
  jest.useRealTimers();
});

type KeyedClient = LimitSubject & { key: ClientKey };

function aClient(id: number, perMinute = 60): KeyedClient {
  return { key: aKey(id + 1_000, id), tracker: `client:${id}`, limits: { perMinute, perDay: 1_000 } };
}

/** The client after a change of its key in the database. */
function changed(client: KeyedClient, key: Partial<ClientKey>): KeyedClient {
  return { ...client, key: { ...client.key, ...key } };
}

async function takeTimes(count: number, client: LimitSubject): Promise<void> {
  for (let request = 0; request < count; request += 1) await counters.take(client);
}

it('A client that returns after ten idle minutes is read again, and keeps the count and the refunds of its day', async () => {
  const client: LimitSubject = { ...aClient(1), limits: { perMinute: 60, perDay: 2 } };
  const remaining: number[] = [];
  for (let request = 0; request < 4; request += 1) {
    const { statuses } = await counters.refund(client, await counters.take(client));
    remaining.push(statuses[1]!.remaining);
    clock.advance(11 * MINUTE);
    await jest.advanceTimersByTimeAsync(12 * MINUTE);
  }
  expect([records.lookUps > 1, ...remaining]).toEqual([true, 2, 2, 1, 0]);
});

it('What the database says of a key applies only if it is a later change', async () => {
  const client = aClient(1, 1);
  await takeTimes(2, client);
  clock.advance(2_000);
  await takeTimes(11, client);
  expect((await counters.take(client)).outcome).toBe('banned');
  const unbanned = changed(client, { ban: { ...NEVER_BANNED, changedAt: 8 } });
  expect((await counters.take(unbanned)).outcome).toBe('limited');
  const stale = { ...NEVER_BANNED, bannedUntil: Infinity, changedAt: 7 };
  expect((await counters.take(changed(client, { ban: stale }))).outcome).toBe('limited');
});

it('keeps at most 200,000 addresses, and evicts the oldest', async () => {
  await counters.take(anonymousClient('192.0.2.1'));
  const { limits } = anonymousClient('192.0.2.1');
  for (let network = 0; network < 200_000; network += 1) {
    await counters.take({ key: null, tracker: `network ${network}`, limits });
  }
  const { statuses } = await counters.take(anonymousClient('192.0.2.1'));
  expect(statuses[0]!.remaining).toBe(59);
});

describe('one of three instances that count alone', () => {
  const free: LimitSubject = { ...aClient(1), limits: { perMinute: 60, perDay: 90 } };

  let counters: AloneCounters;

  const start = () => new AloneCounters(records as unknown as QuotaRecords, clock, 3);
  beforeEach(() => {
    counters = start();
  });

  /** Sends requests of which each is refunded, like one that is answered 304. @returns how many are allowed */
  async function letInRefunded(requests: number): Promise<number> {
    let letIn = 0;
    for (let sent = 0; sent < requests; sent += 1) {
      const taken = await counters.take(free);
      if (taken.outcome === 'allowed') {
        letIn += 1;
        await counters.refund(free, taken);
      }
    }
    return letIn;
  }

  it('refunds at most its share of the minute, and of the day', async () => {
    expect(await letInRefunded(45)).toBe(40);
    clock.advance(MINUTE);
    // Of the day's 90, a third may be refunded, 20 of which were, and a third may count.
    expect(await letInRefunded(60)).toBe(30 + 30 - 40);
  });

  it.each([
    ['all', 60, 19],
    ['more than its share', 21, 19],
    ['less than its share', 5, 4],
    ['one', 1, 0],
    ['nothing', 0, 0],
  ])(
    'begins with what Redis has left of the minute, as seen or as saved by others, but at most its share, and its share of what is left of the day: %s',
    async (_what, left, remaining) => {
      const now = clock.now();
      const minute = { start: now - 1_000, count: 60 - left, refunds: 0 };
      const day = { start: startOfDay(now), count: 0, refunds: 0 };
      records.saved.set(1, { minute: { ...minute, count: 1 }, day: { ...day, count: 60 } });
      counters.continueFrom(free, { minute, day: { ...day, count: 40 } });
      const { outcome, statuses } = await counters.take(free);
      expect(outcome).toBe(left === 0 ? 'limited' : 'allowed');
      expect(statuses).toMatchObject([
        { limit: 20, remaining, resetAt: now - 1_000 + MINUTE },
        { limit: 30, remaining: left === 0 ? 10 : 9 },
      ]);
      records.saved.set(1, { minute, day });
      counters = start();
      expect((await counters.take(free)).statuses[0]).toMatchObject({ limit: 20, remaining });
      const address = anonymousClient('192.0.2.1');
      counters.continueFrom(address, { minute, day });
      expect((await counters.take(address)).statuses).toMatchObject([{ limit: 20, remaining }]);
    },
  );

  it('reports each request that it allowed alone once, and then continues from the counts of Redis', async () => {
    const minute = { start: clock.now(), count: 55, refunds: 0 };
    const reported: number[] = [];
    const add = async (_client: LimitSubject, { count }: { count: number }): Promise<Windows> => {
      reported.push(count);
      // Another request is allowed while Redis answers.
      if (reported.length === 1) await counters.take(free);
      return { ...newWindows(), minute };
    };
    await counters.take(free);
    await counters.take(free);
    await counters.report(add);
    await counters.report(add);
    expect((await counters.take(free)).statuses[0]).toMatchObject({ limit: 20, remaining: 4 });
    await counters.report(add);
    expect(reported).toEqual([2, 1, 1]);
  });

  it('has its share of a new day from its first request on', async () => {
    const day = { start: startOfDay(clock.now()), count: 89, refunds: 0 };
    records.saved.set(1, { ...newWindows(), day });
    expect((await counters.take(free)).outcome).toBe('allowed');
    clock.advance(24 * 60 * MINUTE);
    const { statuses } = await counters.take(free);
    expect(statuses.map(({ limit, remaining }) => [limit, remaining])).toEqual([
      [20, 19],
      [30, 29],
    ]);
  });
});

it.each([
  ['an IPv4 address as itself', '192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address as the IPv4 address', '::ffff:192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address in capitals', '::FFFF:192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address in hexadecimal', '::ffff:c000:207', '192.0.2.7'],
  ['an IPv4 address without the port a proxy wrote', '192.0.2.7:51234', '192.0.2.7'],
  ['an IPv6 address without brackets and port', '[2001:db8:1:2ff::1]:443', '2001:db8:1:200::/56'],
  ['an IPv6 address without its brackets', '[2001:db8:1:2ff::1]', '2001:db8:1:200::/56'],
  ['an IPv6 address by its /56', '2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
  ['another address of that /56 likewise', '2001:DB8:1:201:ffff:ffff:ffff:ffff', '2001:db8:1:200::/56'],
  ['the next /56 separately', '2001:db8:1:300::1', '2001:db8:1:300::/56'],
  ['an IPv6 address without its zone', 'fe80::1%eth0', 'fe80::/56'],
  ['an invalid address as a common one', 'unknown', 'unknown'],
  ['any other invalid address as the same one', 'x'.repeat(5_000), 'unknown'],
  ['a missing address as the same one', '', 'unknown'],
])('an address counts %s', (_rule, ip, address) => {
  expect(anonymousClient(ip).tracker).toBe(`address:${address}`);
});
