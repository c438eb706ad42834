import type { CallerId } from '../../../../libs/database/src/engine/queue';
import { Reads } from '../../../../libs/database/src/engine/reads';
import type { Session, SharedRead, StoredRow } from '../../../../libs/database/src/engine/session';

/** A statement that was sent, and how the test answers it. */
interface Sent {
  text: string;
  values: readonly unknown[];
  succeed(rows: StoredRow[]): void;
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A read that finds a number by a name, with this text as its statement. */
const numbers = (text: string): SharedRead<string, number | null> => ({
  maxKeys: 3,
  statementFor: (names) => ({ text, values: names }),
  resultsOf: (rows, names) =>
    names.map((name) => (rows.find(([found]) => found === name)?.[1] as number) ?? null),
});

const [A, B, C] = [1 as CallerId, 2 as CallerId, 3 as CallerId];

// These are tests of the class, because over HTTP it would depend on time which statements wait.
describe('reads', () => {
  let sent: Sent[];
  let reads: Reads;
  const shared = numbers('shared');

  beforeEach(() => {
    // With real timers, a statement could count as slow on a busy machine before the test answers it.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    // Each test has its own list, so that a late statement does not get into the list of the next test.
    const own: Sent[] = (sent = []);
    const session: Pick<Session, 'corked' | 'execute'> = {
      corked: (work) => work(),
      execute: ([statement]) =>
        new Promise((resolve) => {
          const succeed = (rows: StoredRow[]): void => resolve([{ columns: [], rows }]);
          const { text, values = [] } = statement!;
          own.push({ text, values, succeed });
        }),
    };
    reads = new Reads((work) => work(session as Session));
  });
  afterEach(() => jest.useRealTimers());

  const texts = () => sent.map(({ text, values }) => [text, ...values].join(' '));
  const read = (key: string, caller = A, kind = shared) => reads.readByKey(kind, key, caller);
  /** Starts a read of another kind. While it runs, the next reads wait, and so share a statement. */
  async function aReadUnderWay(): Promise<void> {
    void read('first', C, numbers('other'));
    await aTurn();
    sent.shift();
  }

  it('reads the keys of a turn in one statement, and gives each request its own result', async () => {
    await aReadUnderWay();
    // These are as many keys as a statement may have, and two of them twice.
    const results = Promise.all([read('a'), read('b'), read('c'), read('a', B), read('b', B)]);
    await aTurn();
    expect(texts()).toEqual(['shared a b c']);
    sent[0]!.succeed([['a', 1]]);
    expect(await results).toEqual([1, null, null, 1, null]);
  });

  it('runs one statement of a kind at a time, so no result is older than its request', async () => {
    const first = read('a');
    // The statement is sent at once, because no other one is running.
    expect(texts()).toEqual(['shared a']);
    const second = read('a');
    await aTurn();
    expect(texts()).toEqual(['shared a']);
    sent[0]!.succeed([['a', 1]]);
    expect(await first).toBe(1);
    await aTurn();
    expect(texts()).toEqual(['shared a', 'shared a']);
    sent[1]!.succeed([['a', 2]]);
    expect(await second).toBe(2);
  });

  it('takes turns between callers, so hundreds of one do not delay another', async () => {
    await aReadUnderWay();
    const many = Array.from({ length: 300 }, (_none, index) => read(`a${index}`));
    const few = read('b0', B);
    await aTurn();
    expect(texts()).toEqual(['shared a0 b0 a1']);
    sent[0]!.succeed([['b0', 7]]);
    expect(await few).toBe(7);
    void Promise.allSettled(many);
  });

  it('sends equal statements once, and the result to everybody', async () => {
    await aReadUnderWay();
    const one = (values: number[], callerId: CallerId) =>
      reads.read({ text: 'page', values }, { callerId, isSlow: false });
    const results = Promise.all([one([1], A), one([2], A), one([1], B)]);
    await aTurn();
    expect(texts()).toEqual(['page 1', 'page 2']);
    sent[0]!.succeed([['a']]);
    sent[1]!.succeed([['b']]);
    expect(await results).toEqual([[['a']], [['b']], [['a']]]);
  });

  it('sends one slow statement of a caller at a time, and those of others meanwhile', async () => {
    await aReadUnderWay();
    const slow = (text: string, callerId: CallerId) => reads.read({ text }, { callerId, isSlow: true });
    const all = [slow('page1', A), slow('page2', A), slow('other', B)];
    await aTurn();
    expect(texts()).toEqual(['page1', 'other']);
    sent[0]!.succeed([]);
    await all[0];
    await aTurn();
    expect(texts()).toEqual(['page1', 'other', 'page2']);
    sent.forEach(({ succeed }) => succeed([]));
    await Promise.all(all);
  });

  it('starts the next statement of a kind 100 ms after an unanswered one, with at most four under way', async () => {
    const readSlowly = async (key: string) => {
      read(key).catch(() => undefined);
      await aTurn();
      await jest.advanceTimersByTimeAsync(101);
    };
    void readSlowly('a');
    void read('b');
    await jest.advanceTimersByTimeAsync(99);
    expect(texts()).toEqual(['shared a']);
    await jest.advanceTimersByTimeAsync(2);
    expect(texts()).toEqual(['shared a', 'shared b']);
    for (const key of ['c', 'd', 'e', 'f']) await readSlowly(key);
    expect(sent).toHaveLength(4);
    sent[1]!.succeed([]);
    await aTurn();
    expect(texts().slice(4)).toEqual(['shared e f']);
  });
});
