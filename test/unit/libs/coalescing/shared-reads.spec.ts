import { SharedReads } from '#libs/coalescing';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Random numbers that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Read {
  answer: (value: string) => void;
  fail: (error: Error) => void;
}

let reads: SharedReads<string, string>;
let begun: Read[];

beforeEach(() => {
  reads = new SharedReads();
  begun = [];
});

const ask = (key = 'key') =>
  reads.read(key, () => new Promise((answer, fail) => begun.push({ answer, fail })));

describe('equal reads', () => {
  it('of one turn share one answer, and those that come while it is under way share the next', async () => {
    const first = [ask(), ask()];
    await aTurn();
    expect(begun).toHaveLength(1);
    const second = [ask(), ask()];
    await aTurn();
    expect(begun).toHaveLength(1);
    begun[0]!.answer('old');
    expect(await Promise.all(first)).toEqual(['old', 'old']);
    begun[1]!.answer('new');
    expect(await Promise.all(second)).toEqual(['new', 'new']);
    expect(begun).toHaveLength(2);
  });

  it('fail for everybody who shares them and for nobody else', async () => {
    const first = Promise.allSettled([ask(), ask()]);
    await aTurn();
    const second = ask();
    const failure = new Error('The database is away.');
    begun[0]!.fail(failure);
    expect(await first).toEqual(Array(2).fill({ status: 'rejected', reason: failure }));
    begun[1]!.answer('new');
    expect(await second).toBe('new');
    await aTurn();
    expect(reads.size).toBe(0);
  });

  it('fail when the read throws before it has begun', async () => {
    const failure = new Error('no such list');
    const read = reads.read('key', () => {
      throw failure;
    });
    await expect(read).rejects.toBe(failure);
    await aTurn();
    expect(reads.size).toBe(0);
  });
});

it('reads that differ do not wait for each other', async () => {
  const other = ask('a');
  await aTurn();
  const answer = ask('b');
  await aTurn();
  begun[1]!.answer('b');
  expect(await answer).toBe('b');
  begun[0]!.answer('a');
  expect(await other).toBe('a');
});

describe('with time', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('a read without an answer holds up the next one for a tenth of a second, and four are begun at the most', async () => {
    const answers: Promise<PromiseSettledResult<string>[]>[] = [];
    for (let count = 1; count <= 6; count += 1) {
      answers.push(Promise.allSettled([ask()]));
      await aTurn();
      expect(begun).toHaveLength(Math.min(count, 4));
      await jest.advanceTimersByTimeAsync(101);
    }
    begun[1]!.answer('second');
    await aTurn();
    expect(begun).toHaveLength(5);
    begun.forEach(({ answer }) => answer('late'));
    expect(await answers[1]).toEqual([{ status: 'fulfilled', value: 'second' }]);
    expect(await answers[5]).toEqual([{ status: 'fulfilled', value: 'late' }]);
    await aTurn();
    expect(reads.size).toBe(0);
  });

  it.each([1, 2, 3])(
    'nobody gets what was read before they asked, whatever takes how long: %i',
    async (seed) => {
      const random = randomNumbers(seed);
      const shared = new SharedReads<number, number>();
      const underWay = new Map<number, number>();
      let moment = 0;
      let mostUnderWay = 0;
      const asked: Promise<string>[] = [];

      const load = async (key: number): Promise<number> => {
        const readAt = (moment += 1);
        underWay.set(key, (underWay.get(key) ?? 0) + 1);
        mostUnderWay = Math.max(mostUnderWay, underWay.get(key)!);
        const takes = random() < 0.8 ? random() * 5 : random() * 2_000;
        await new Promise((resolve) => setTimeout(resolve, takes));
        underWay.set(key, underWay.get(key)! - 1);
        if (random() < 0.2) {
          throw new Error('failed');
        }
        return readAt;
      };
      const outcomeOf = async (key: number): Promise<string> => {
        const askedAt = (moment += 1);
        try {
          return (await shared.read(key, () => load(key))) > askedAt ? 'fresh' : 'stale';
        } catch (error) {
          return (error as Error).message;
        }
      };

      for (let step = 0; step < 1_000; step += 1) {
        asked.push(outcomeOf(Math.floor(random() * 3)));
        if (random() < 0.5) {
          await aTurn();
          await jest.advanceTimersByTimeAsync(random() * 10);
        }
      }
      await jest.advanceTimersByTimeAsync(60_000);
      const outcomes = new Set(await Promise.all(asked));
      expect(outcomes).toEqual(new Set(['fresh', 'failed']));
      expect(mostUnderWay).toBeGreaterThan(1);
      expect(mostUnderWay).toBeLessThanOrEqual(4);
      expect(shared.size).toBe(0);
    },
  );
});
