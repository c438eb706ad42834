import { setImmediate as turn } from 'node:timers/promises';
import { RetryingTasks } from '../../../src/modules/quotas/counting/retrying-tasks';

/** Work that fails when the test says so. */
function failing(): { work: () => Promise<void>; fail: () => void } {
  let fail: () => void = () => undefined;
  const outcome = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('no database'))));
  return { work: () => outcome, fail };
}

it('A failure is reported by its name', async () => {
  const reported = jest.fn();
  const owed = new RetryingTasks(reported);
  const { work, fail } = failing();
  owed.add('all bans', work);
  fail();
  await turn();
  expect(reported).toHaveBeenCalledWith('all bans', new Error('no database'));
  owed.close();
});

it('A failure after the shutdown is not reported: the stopping service closes the database itself', async () => {
  const reported = jest.fn();
  const owed = new RetryingTasks(reported);
  const { work, fail } = failing();
  owed.add('all resets', work);
  owed.close();
  fail();
  await turn();
  expect(reported).not.toHaveBeenCalled();
});
