import { WriteBehind } from '#libs/write-behind';

type Batch = Record<string, number>;

/** A writer whose every batch waits until the test lets it succeed or fail. */
function aBench(intervalMs = 1_000) {
  const batches: Batch[] = [];
  const errors: unknown[] = [];
  const underWay: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const behind = new WriteBehind<number>({
    intervalMs,
    merge: (earlier, later) => earlier + later,
    onError: (error) => errors.push(error),
    write: (batch) => {
      batches.push(Object.fromEntries(batch));
      return new Promise((resolve, reject) => underWay.push({ resolve, reject }));
    },
  });
  return { behind, batches, errors, underWay };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('collected entries', () => {
  it('are written at the interval, merged by key', async () => {
    const { behind, batches } = aBench(1_000);
    behind.add('a', 1);
    behind.add('a', 2);
    behind.add('b', 5);
    await jest.advanceTimersByTimeAsync(999);
    expect(batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(batches).toEqual([{ a: 3, b: 5 }]);
  });

  it('cause no write when there are none', async () => {
    const { behind, batches } = aBench();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await behind.flush()).toBe(true);
    expect(batches).toEqual([]);
  });

  it('that arrive during a batch wait for the next one: only one runs at a time', async () => {
    const { behind, batches, underWay } = aBench();
    behind.add('a', 1);
    void behind.flush();
    behind.add('a', 10);
    const flushes = [behind.flush(), behind.flush()];
    await jest.advanceTimersByTimeAsync(5_000);
    expect(batches).toEqual([{ a: 1 }]);
    underWay[0]!.resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(batches).toEqual([{ a: 1 }, { a: 10 }]);
    underWay[1]!.resolve();
    expect(await Promise.all(flushes)).toEqual([true, true]);
    expect(batches).toHaveLength(2);
  });

  it('are idle only when none is waiting or being written', async () => {
    const { behind, underWay } = aBench();
    expect(behind.idle).toBe(true);
    behind.add('a', 1);
    expect(behind.idle).toBe(false);
    const flushed = behind.flush();
    expect(behind.idle).toBe(false);
    underWay[0]!.resolve();
    await flushed;
    expect(behind.idle).toBe(true);
  });
});

describe('a batch that fails', () => {
  it('is reported, merged with later entries, and written at the next interval', async () => {
    const { behind, batches, errors, underWay } = aBench();
    behind.add('a', 1);
    behind.add('b', 2);
    const flushed = behind.flush();
    behind.add('a', 10);
    behind.add('c', 4);
    underWay[0]!.reject(new Error('database is away'));
    expect(await flushed).toBe(false);
    expect(errors).toEqual([new Error('database is away')]);
    expect(behind.idle).toBe(false);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(batches[1]).toEqual({ a: 11, b: 2, c: 4 });
  });

  it('is merged in order: earlier entries stay earlier', async () => {
    const orders: string[] = [];
    const behind = new WriteBehind<string>({
      intervalMs: 1_000,
      merge: (earlier, later) => `${earlier}${later}`,
      onError: () => undefined,
      write: (batch) => {
        orders.push(batch.get('a')!);
        return orders.length === 1 ? Promise.reject(new Error('no')) : Promise.resolve();
      },
    });
    behind.add('a', '1');
    const failed = behind.flush();
    behind.add('a', '2');
    expect(await failed).toBe(false);
    expect(await behind.close()).toBe(true);
    expect(orders).toEqual(['1', '12']);
  });

  it('by throwing synchronously is handled alike, and the next one is written', async () => {
    const written: Batch[] = [];
    const behind = new WriteBehind<number>({
      intervalMs: 1_000,
      merge: (earlier, later) => earlier + later,
      onError: (error) => written.push({ [String(error)]: 0 }),
      write: (batch) => {
        if (written.length === 0) throw new Error('at once');
        written.push(Object.fromEntries(batch));
        return Promise.resolve();
      },
    });
    behind.add('a', 1);
    expect(await behind.flush()).toBe(false);
    expect(await behind.flush()).toBe(true);
    expect(written).toEqual([{ 'Error: at once': 0 }, { a: 1 }]);
  });
});

describe('closing', () => {
  it('writes the remaining entries after the running batch, and stops the timer', async () => {
    const { behind, batches, underWay } = aBench();
    behind.add('a', 1);
    void behind.flush();
    behind.add('b', 2);
    const closed = behind.close();
    underWay[0]!.resolve();
    await jest.advanceTimersByTimeAsync(0);
    underWay[1]!.resolve();
    expect(await closed).toBe(true);
    expect(batches).toEqual([{ a: 1 }, { b: 2 }]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('reports that the remaining entries could not be written', async () => {
    const { behind, underWay } = aBench();
    behind.add('a', 1);
    const closed = behind.close();
    underWay[0]!.reject(new Error('database is away'));
    expect(await closed).toBe(false);
  });
});
