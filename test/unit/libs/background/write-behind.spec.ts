import { Logger } from '@nestjs/common';
import { WriteBehind } from '#libs/background';

type Batch = Record<string, string>;

let behind: WriteBehind<string>;
let batches: Batch[];
let merge: jest.Mock<string, [string, string]>;
let warnings: jest.SpyInstance;
/** Batches that are being written. Each waits until the test makes it succeed or fail. */
let underWay: { resolve: () => void; reject: (error: Error) => void }[];
let throws: boolean;

beforeEach(() => {
  jest.useFakeTimers();
  [batches, underWay, throws] = [[], [], false];
  warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  merge = jest.fn((earlier, later) => `${earlier}${later}`);
  behind = new WriteBehind<string>({
    name: 'Saving letters',
    intervalMs: 1_000,
    merge,
    write: (batch) => {
      if (throws) throw new Error('at once');
      batches.push(Object.fromEntries(batch));
      return new Promise((resolve, reject) => underWay.push({ resolve, reject }));
    },
  });
});
afterEach(() => {
  warnings.mockRestore();
  jest.useRealTimers();
});

it('collected entries are written at the interval, merged by key in their order', async () => {
  behind.add('a', '1');
  behind.add('a', '2');
  behind.add('b', '5');
  await jest.advanceTimersByTimeAsync(999);
  expect(batches).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(batches).toEqual([{ a: '12', b: '5' }]);
});

it('a batch that fails is reported, merged with later entries, and written at the next interval', async () => {
  behind.add('a', '1');
  behind.add('b', '2');
  const flushed = behind.flush();
  behind.add('a', '3');
  behind.add('c', '4');
  underWay[0]!.reject(new Error('database is away'));
  await flushed;
  const report = { msg: 'Saving letters failed; will retry.', err: new Error('database is away') };
  expect(warnings.mock.calls).toEqual([[report]]);
  expect(batches).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(batches[1]).toEqual({ a: '13', b: '2', c: '4' });
});

describe('closing', () => {
  it('writes the remaining entries after the running batch, and stops the timer', async () => {
    behind.add('a', '1');
    void behind.flush();
    behind.add('b', '2');
    const closed = behind.close();
    underWay[0]!.resolve();
    await jest.advanceTimersByTimeAsync(0);
    underWay[1]!.resolve();
    await closed;
    expect(batches).toEqual([{ a: '1' }, { b: '2' }]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stops the timer although the remaining entries could not be written', async () => {
    behind.add('a', '1');
    const closed = behind.close();
    underWay[0]!.reject(new Error('database is away'));
    await closed;
    behind.add('a', '2');
    // The entry is still pending.
    expect(merge).toHaveBeenLastCalledWith('1', '2');
    expect(jest.getTimerCount()).toBe(0);
  });
});
