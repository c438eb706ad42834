import { AsyncLocalStorage } from 'node:async_hooks';
import { Coalescer } from '#libs/database';

/** A question that was put, and how the test answers it. */
interface Question {
  keys: string[];
  /** Whose trace shows it. */
  context?: string;
  answer(values: Record<string, number>): void;
  fail(error: Error): void;
}

const context = new AsyncLocalStorage<string>();
let questions: Question[];
let coalescer: Coalescer<string, number>;

beforeEach(() => {
  questions = [];
  coalescer = new Coalescer({
    maxBatch: 3,
    loadMany: (keys) =>
      new Promise((resolve, fail) => {
        questions.push({
          keys,
          context: context.getStore(),
          answer: (values) => resolve(new Map(Object.entries(values))),
          fail,
        });
      }),
  });
});

const aTurn = () => new Promise((resolve) => setImmediate(resolve));
const asked = () => questions.map(({ keys }) => keys);
const load = (...keys: string[]) => Promise.all(keys.map((key) => coalescer.load(key)));

test('all requests of one turn are one batch, each key once; a missing value is null, and zero is a value', async () => {
  const loading = load('a', 'b', 'a', 'c');
  expect(asked()).toEqual([]);
  await aTurn();
  expect(asked()).toEqual([['a', 'b', 'c']]);
  questions[0]!.answer({ a: 1, b: 0 });
  expect(await loading).toEqual([1, 0, 1, null]);
});

test('one batch runs at a time; later requests wait for the next', async () => {
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

test('a batch has at most the allowed number of keys; the rest follow in order', async () => {
  const loading = load('a', 'b', 'c', 'd', 'e');
  await aTurn();
  expect(asked()).toEqual([['a', 'b', 'c']]);
  questions[0]!.answer({ a: 1, b: 2, c: 3 });
  await aTurn();
  expect(asked()[1]).toEqual(['d', 'e']);
  questions[1]!.answer({ d: 4, e: 5 });
  expect(await loading).toEqual([1, 2, 3, 4, 5]);
});

test('a failed batch rejects its own requests and no others', async () => {
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

test('a batch runs in the context of its first request, and not of the one whose end let it start', async () => {
  const first = context.run('first', () => load('a'));
  await aTurn();
  const others = [context.run('second', () => load('b')), context.run('third', () => load('b', 'c'))];
  questions[0]!.answer({ a: 1 });
  await first;
  await aTurn();
  questions[1]!.answer({ b: 2, c: 3 });
  await Promise.all(others);
  expect(questions.map((question) => question.context)).toEqual(['first', 'second']);
});

test('it loads again after it was idle', async () => {
  for (const value of [1, 2]) {
    const loading = load('a');
    await aTurn();
    questions.at(-1)!.answer({ a: value });
    expect(await loading).toEqual([value]);
    await aTurn();
  }
  expect(asked()).toEqual([['a'], ['a']]);
});

describe('while batches are unanswered', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  test('the next batch starts after 100 ms, and loads keys requested in the meantime again', async () => {
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

  test('at most four run, and the next starts as soon as one of them ends', async () => {
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
