import { BudgetExceededError, withinBudget } from '../../../../src/modules/quotas/stores/redis-connection';

const BUDGET_MS = 50;
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

let late: string[];
let answer: (value: string) => void;
let fail: (error: Error) => void;
let outcome: Promise<PromiseSettledResult<string>[]>;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate'] });
  late = [];
  const asked = new Promise<string>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  outcome = Promise.allSettled([withinBudget(asked, BUDGET_MS, (value) => late.push(value))]);
  await aTurn();
});
afterEach(() => jest.useRealTimers());

const EXCEEDED = [{ status: 'rejected', reason: new BudgetExceededError(BUDGET_MS) }];

async function pass(milliseconds: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(milliseconds);
}

it('a response in time is returned, and not reported as late', async () => {
  await pass(BUDGET_MS - 1);
  answer('banned');
  expect(await outcome).toEqual([{ status: 'fulfilled', value: 'banned' }]);
  expect(late).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
});

it('a failure in time is passed on', async () => {
  const failure = new Error('connection lost');
  fail(failure);
  expect(await outcome).toEqual([{ status: 'rejected', reason: failure }]);
  expect(jest.getTimerCount()).toBe(0);
});

it('a late response is reported once', async () => {
  await pass(BUDGET_MS);
  expect(await outcome).toEqual(EXCEEDED);
  expect(late).toEqual([]);
  answer('banned');
  await aTurn();
  expect(late).toEqual(['banned']);
});

it('a late failure is not reported, but handled', async () => {
  await pass(BUDGET_MS);
  expect(await outcome).toEqual(EXCEEDED);
  fail(new Error('connection lost'));
  await aTurn();
  expect(late).toEqual([]);
});

it('a response left unread while this process was busy still counts: the end of the budget checks once more', async () => {
  jest.advanceTimersByTime(BUDGET_MS * 10);
  answer('banned');
  expect(await outcome).toEqual([{ status: 'fulfilled', value: 'banned' }]);
  await aTurn();
  expect(late).toEqual([]);
});
