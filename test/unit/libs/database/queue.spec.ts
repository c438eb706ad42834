import { type CallerId, FairQueue } from '../../../../libs/database/src/engine/queue';

interface Item {
  name: string;
  subjects: string[];
}

const [A, B] = [1 as CallerId, 2 as CallerId];

// These are tests of the class, because over HTTP the order of the callers would depend on time.
describe('A fair queue', () => {
  let queue: FairQueue<Item>;
  beforeEach(() => {
    // All tests use fake timers, because the real timer of a queue that still has items could end during the next test.
    jest.useFakeTimers();
    queue = new FairQueue('Test', { max: 6, maxOfCaller: 4, timeoutMs: 5_000 }, () => undefined);
  });

  afterEach(() => jest.useRealTimers());

  /** @returns whether the queue had room */
  const add = (callerId: CallerId, name: string, ...subjects: string[]): boolean => {
    const before = queue.size;
    queue.add(callerId, { name, subjects }).catch(() => undefined);
    return queue.size > before;
  };
  const take = (most: number, ...busy: string[]) =>
    queue
      .take(({ item }) => !item.subjects.some((one) => busy.includes(one)), most)
      .map(({ item }) => item.name);

  it('takes one item per caller in turn, and the items of one caller in order', () => {
    ['a1', 'a2', 'a3'].forEach((name) => add(A, name));
    ['b1', 'b2'].forEach((name) => add(B, name));
    expect(take(4)).toEqual(['a1', 'b1', 'a2', 'b2']);
    expect(take(4)).toEqual(['a3']);
    expect(queue.size).toBe(0);
  });

  it('serves a backlog in turn with those that come back as soon as they were served', () => {
    ['a1', 'a2', 'a3'].forEach((name) => add(A, name));
    add(B, 'b1');
    expect(take(2)).toEqual(['a1', 'b1']);
    add(B, 'b2');
    expect(take(1)).toEqual(['a2']);
    expect(take(2)).toEqual(['b2', 'a3']);
  });

  it('leaves items with busy subjects in the queue', () => {
    add(A, 'a1', 'pet 1');
    add(A, 'a2', 'pet 2');
    add(B, 'b1', 'pet 1', 'pet 3');
    expect(take(5, 'pet 1')).toEqual(['a2']);
    expect(take(5, 'pet 3')).toEqual(['a1']);
    expect(take(5)).toEqual(['b1']);
  });

  it('is full when too many wait, or too many of one caller, and refuses more', async () => {
    expect(['a1', 'a2', 'a3', 'a4', 'a5'].filter((name) => !add(A, name))).toEqual(['a5']);
    expect(['b1', 'b2', 'b3'].filter((name) => !add(B, name))).toEqual(['b3']);
    await expect(queue.add(B, { name: 'b3', subjects: [] })).rejects.toThrow('too many requests wait');
    take(1);
    expect(add(B, 'b3')).toBe(true);
  });

  it('puts returned items before all others of their caller', () => {
    ['a1', 'a2', 'a3'].forEach((name) => add(A, name));
    const taken = queue.take(() => true, 2);
    queue.putBack(taken);
    expect(queue.size).toBe(3);
    expect(take(5)).toEqual(['a1', 'a2', 'a3']);
  });

  it('refuses what waits too long, even if nobody takes anything', async () => {
    const early = expect(queue.add(A, { name: 'a1', subjects: [] })).rejects.toThrow(
      'The database is overloaded: too many requests wait in the queue',
    );
    await jest.advanceTimersByTimeAsync(4_000);
    add(A, 'a2');
    await jest.advanceTimersByTimeAsync(1_500);
    await early;
    expect(take(5)).toEqual(['a2']);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(jest.getTimerCount()).toBe(0);
  });
});
