import { Coalescer, type CoalescerOptions } from '#libs/coalescing';

/** A question that was put, and how the test answers it. */
interface Question {
  keys: string[];
  answer(values: Record<string, number>): void;
  fail(error: Error): void;
}

let questions: Question[];
let coalescer: Coalescer<string, number>;

beforeEach(() => {
  questions = [];
  coalescer = coalescerWith({});
});

function coalescerWith(options: Partial<CoalescerOptions<string, number>>): Coalescer<string, number> {
  return new Coalescer<string, number>({
    maxBatch: 3,
    ...options,
    loadMany: (keys) =>
      new Promise((resolve, reject) => {
        questions.push({
          keys,
          answer: (values) => resolve(new Map(Object.entries(values))),
          fail: reject,
        });
      }),
  });
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));
const asked = () => questions.map(({ keys }) => keys);
const load = (...keys: string[]) => Promise.all(keys.map((key) => coalescer.load(key)));

test('what is asked for in one turn is asked for in one question, each key once', async () => {
  const loading = load('a', 'b', 'a');
  expect(asked()).toEqual([]);
  await aTurn();
  expect(asked()).toEqual([['a', 'b']]);
  questions[0]!.answer({ a: 1, b: 2 });
  expect(await loading).toEqual([1, 2, 1]);
});

test('one question at a time is put; what comes meanwhile waits for the next', async () => {
  const first = load('a');
  await aTurn();
  const second = load('b', 'a');
  await aTurn();
  expect(asked()).toEqual([['a']]);
  questions[0]!.answer({ a: 1 });
  expect(await first).toEqual([1]);
  await aTurn();
  // The answer under way may be older than the question for the same key that came meanwhile.
  expect(asked()).toEqual([['a'], ['b', 'a']]);
  questions[1]!.answer({ a: 10, b: 2 });
  expect(await second).toEqual([2, 10]);
});

test('a question has no more keys than allowed, and those left over follow in their order', async () => {
  const loading = load('a', 'b', 'c', 'd', 'e');
  await aTurn();
  expect(asked()).toEqual([['a', 'b', 'c']]);
  questions[0]!.answer({ a: 1, b: 2, c: 3 });
  await aTurn();
  expect(asked()).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
  questions[1]!.answer({ d: 4, e: 5 });
  expect(await loading).toEqual([1, 2, 3, 4, 5]);
});

test('what has no value is null, and a value of zero is none of that', async () => {
  const loading = load('a', 'b');
  await aTurn();
  questions[0]!.answer({ b: 0 });
  expect(await loading).toEqual([null, 0]);
});

test('a question that fails fails for everybody who asked, and for nobody else', async () => {
  const first = Promise.allSettled(['a', 'b', 'a'].map((key) => coalescer.load(key)));
  await aTurn();
  const second = load('a');
  const failure = new Error('The database is away.');
  questions[0]!.fail(failure);
  expect(await first).toEqual(Array(3).fill({ status: 'rejected', reason: failure }));
  await aTurn();
  questions[1]!.answer({ a: 1 });
  expect(await second).toEqual([1]);
});

test('it asks again after it has come to rest', async () => {
  for (const value of [1, 2]) {
    const loading = load('a');
    await aTurn();
    questions.at(-1)!.answer({ a: value });
    expect(await loading).toEqual([value]);
    await aTurn();
  }
  expect(asked()).toEqual([['a'], ['a']]);
});

describe('with two questions at once', () => {
  beforeEach(() => {
    coalescer = coalescerWith({ atOnce: 2, about: (key) => key[0] });
  });

  test('what comes while one is under way is asked for beside it, and what comes then waits', async () => {
    const loading = [load('a')];
    await aTurn();
    loading.push(load('b'));
    await aTurn();
    loading.push(load('c'));
    await aTurn();
    expect(asked()).toEqual([['a'], ['b']]);
    questions[1]!.answer({ b: 2 });
    await aTurn();
    expect(asked()).toEqual([['a'], ['b'], ['c']]);
    questions[0]!.answer({ a: 1 });
    questions[2]!.answer({ c: 3 });
    expect(await Promise.all(loading)).toEqual([[1], [2], [3]]);
  });

  test('what is about the same is asked for together or one after another, and holds nobody else up', async () => {
    const first = load('a1', 'a2');
    await aTurn();
    const waiting = load('a3');
    await aTurn();
    const beside = load('b1', 'a4');
    await aTurn();
    expect(asked()).toEqual([['a1', 'a2'], ['b1']]);
    questions[0]!.answer({ a1: 1, a2: 2 });
    expect(await first).toEqual([1, 2]);
    await aTurn();
    expect(asked().slice(2)).toEqual([['a3', 'a4']]);
    questions[1]!.answer({ b1: 1 });
    questions[2]!.answer({ a3: 3, a4: 4 });
    expect([await waiting, await beside]).toEqual([[3], [1, 4]]);
  });

  test('a question that failed leaves what it was about free', async () => {
    const failing = Promise.allSettled([coalescer.load('a')]);
    await aTurn();
    questions[0]!.fail(new Error('The database is away.'));
    expect(await failing).toMatchObject([{ status: 'rejected' }]);
    const again = load('a');
    await aTurn();
    questions[1]!.answer({ a: 1 });
    expect(await again).toEqual([1]);
  });

  test('more than fit into one question are asked for in two at once', async () => {
    const loading = load('a', 'b', 'c', 'd', 'e');
    await aTurn();
    expect(asked()).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    questions[0]!.answer({ a: 1, b: 2, c: 3 });
    questions[1]!.answer({ d: 4, e: 5 });
    expect(await loading).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('while questions stay without an answer', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  test('the next one is put after a tenth of a second, and a key that was asked for meanwhile is asked for again', async () => {
    const silent = load('a');
    await aTurn();
    const second = load('a', 'b');
    await jest.advanceTimersByTimeAsync(99);
    expect(asked()).toEqual([['a']]);
    await jest.advanceTimersByTimeAsync(2);
    expect(asked()).toEqual([['a'], ['a', 'b']]);
    questions[1]!.answer({ a: 10, b: 2 });
    expect(await second).toEqual([10, 2]);

    const third = load('c');
    await aTurn();
    questions[2]!.answer({ c: 3 });
    expect(await third).toEqual([3]);
    questions[0]!.answer({ a: 1 });
    expect(await silent).toEqual([1]);
  });

  test('what is about the same waits no longer than that either', async () => {
    coalescer = coalescerWith({ atOnce: 2, about: () => 'the same' });
    const silent = load('a');
    await aTurn();
    const second = load('b');
    await jest.advanceTimersByTimeAsync(99);
    expect(asked()).toEqual([['a']]);
    await jest.advanceTimersByTimeAsync(2);
    expect(asked()).toEqual([['a'], ['b']]);
    questions[1]!.answer({ b: 2 });
    questions[0]!.answer({ a: 1 });
    expect([await silent, await second]).toEqual([[1], [2]]);
  });

  test('no more than four are under way, and the next follows as soon as one of them has ended', async () => {
    const loading: Promise<PromiseSettledResult<number | null>[]>[] = [];
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      loading.push(Promise.allSettled([coalescer.load(key)]));
      await aTurn();
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(asked()).toEqual([['a'], ['b'], ['c'], ['d']]);
    questions[1]!.fail(new Error('Query read timeout'));
    await aTurn();
    expect(asked().slice(4)).toEqual([['e', 'f']]);
    questions[4]!.answer({ e: 5, f: 6 });
    expect(await loading[5]).toEqual([{ status: 'fulfilled', value: 6 }]);
  });
});
