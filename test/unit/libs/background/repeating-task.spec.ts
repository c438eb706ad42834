import { Logger } from '@nestjs/common';
import { RepeatingTask } from '#libs/background';

describe('A repeating task', () => {
  const log: string[] = [];
  beforeEach(() => {
    jest.useFakeTimers();
    log.length = 0;
    for (const level of ['warn', 'log'] as const) {
      const report = (...[line]: unknown[]): void =>
        void log.push(`${level} ${typeof line === 'string' ? line : (line as { msg: string }).msg}`);
      jest.spyOn(Logger.prototype, level).mockImplementation(report);
    }
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('runs a pause after its start, and after the end of each run, so runs never overlap', async () => {
    let running = 0;
    const ends: (() => void)[] = [];
    const work = () => {
      running += 1;
      return new Promise<void>((resolve) => ends.push(resolve)).finally(() => (running -= 1));
    };
    const task = new RepeatingTask({ name: 'A task', work, everyMs: 100 }).start();
    await jest.advanceTimersByTimeAsync(100);
    expect(ends).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([ends.length, running]).toEqual([1, 1]);
    ends[0]!();
    await jest.advanceTimersByTimeAsync(100);
    expect([ends.length, running]).toEqual([2, 1]);
    ends[1]!();
    await task.stop();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ends).toHaveLength(2);
  });

  it('runs when asked; those who ask during a run share the next one, and all wait for it', async () => {
    const ends: (() => void)[] = [];
    const task = new RepeatingTask({
      name: 'A task',
      work: () => new Promise<void>((resolve) => ends.push(resolve)),
      everyMs: 100,
    });
    const first = task.runNow();
    const others = Promise.all([task.runNow(), task.runNow()]);
    ends[0]!();
    await first;
    await jest.advanceTimersByTimeAsync(0);
    expect(ends).toHaveLength(2);
    ends[1]!();
    await others;
    await task.stop();
  });

  it('reports the first failure in a row and the recovery', async () => {
    const results = [true, false, false, true, true];
    const work = () => {
      if (!results.shift()!) {
        throw new Error('away');
      }
    };
    const task = new RepeatingTask({ name: 'Counting', work, everyMs: 100 }).start();
    await jest.advanceTimersByTimeAsync(500);
    expect(results).toEqual([]);
    expect(log).toEqual(['warn Counting failed; will retry.', 'log Counting works again.']);
    await task.stop();
  });
});
