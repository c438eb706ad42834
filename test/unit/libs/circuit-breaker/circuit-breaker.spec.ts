import { CircuitBreaker } from '../../../../src/modules/quotas/fleet/circuit-breaker';

const PROBE_MS = 100;

let breaker: CircuitBreaker;
let changes: boolean[];
/** Probes under way, to be answered by the test. */
let probes: { answer: () => void; fail: () => void }[];

beforeEach(() => {
  jest.useFakeTimers();
  changes = [];
  probes = [];
  breaker = new CircuitBreaker({
    failures: 3,
    probeMs: PROBE_MS,
    probe: () =>
      new Promise<void>((resolve, reject) => {
        probes.push({ answer: resolve, fail: () => reject(new Error('still away')) });
      }),
    onChange: (open) => changes.push(open),
  });
});
afterEach(() => {
  breaker.stop();
  jest.useRealTimers();
});

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

/** Requests that fail one after another. */
async function fail(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const attempt = breaker.attempt();
    await pass(1);
    breaker.failed(attempt);
  }
}

describe('a closed circuit', () => {
  it('opens after the configured number of consecutive failures, and reports it once', async () => {
    await fail(2);
    expect(breaker.isOpen).toBe(false);
    await fail(1);
    expect(breaker.isOpen).toBe(true);
    await fail(2);
    expect(changes).toEqual([true]);
  });

  it('stays closed when a success comes between failures', async () => {
    await fail(2);
    breaker.attempt();
    breaker.succeeded();
    await fail(2);
    expect(changes).toEqual([]);
  });

  it('counts concurrent failures as one', async () => {
    for (let pause = 1; pause <= 2; pause += 1) {
      const attempts = Array.from({ length: 50 }, () => breaker.attempt());
      await pass(1);
      attempts.forEach((attempt) => breaker.failed(attempt));
      expect(breaker.isOpen).toBe(false);
    }
    await fail(1);
    expect(breaker.isOpen).toBe(true);
  });

  it('opens at once when the dependency is known to be unavailable, and does not probe before that', async () => {
    await fail(2);
    await pass(10 * PROBE_MS);
    expect(probes).toHaveLength(0);
    breaker.open();
    breaker.open();
    expect([breaker.isOpen, changes]).toEqual([true, [true]]);
  });
});

describe('an open circuit', () => {
  beforeEach(() => breaker.open());

  it('probes after each pause, one at a time, until a probe succeeds', async () => {
    await pass(PROBE_MS - 1);
    expect(probes).toHaveLength(0);
    await pass(1);
    expect(probes).toHaveLength(1);
    await pass(5 * PROBE_MS);
    expect(probes).toHaveLength(1);

    probes[0]!.fail();
    await pass(PROBE_MS);
    expect(probes).toHaveLength(2);
    expect(breaker.isOpen).toBe(true);

    probes[1]!.answer();
    await pass(5 * PROBE_MS);
    expect([probes.length, breaker.isOpen, changes]).toEqual([2, false, [true, false]]);
  });

  it('needs the full number of failures to open again once it is closed', async () => {
    await pass(PROBE_MS);
    probes[0]!.answer();
    await pass(0);
    await fail(2);
    expect(breaker.isOpen).toBe(false);
    await fail(1);
    await pass(PROBE_MS);
    expect([changes, probes.length]).toEqual([[true, false, true], 2]);
  });

  it.each(['fail', 'answer'] as const)('does not probe or report after it is stopped: %s', async (how) => {
    await pass(PROBE_MS);
    breaker.stop();
    probes[0]![how]();
    await pass(5 * PROBE_MS);
    expect([probes.length, changes]).toEqual([1, [true]]);
  });
});

it('does not open after it is stopped', async () => {
  breaker.stop();
  breaker.open();
  await fail(3);
  await pass(PROBE_MS);
  expect([breaker.isOpen, changes, probes.length]).toEqual([false, [], 0]);
});
