import { AsyncLocalStorage } from 'node:async_hooks';
import { Reads } from '../../../../libs/database/src/reads';
import type { Session } from '../../../../libs/database/src/session';

test('reads that share a connection keep their own contexts, so each is in the trace of its request', async () => {
  const context = new AsyncLocalStorage<string>();
  const session: Pick<Session, 'together' | 'readWithRetry'> = {
    together: (work) => work(),
    readWithRetry: ({ text }) => Promise.resolve([[text, context.getStore()]]),
  };
  const sessions: (string | undefined)[] = [];
  const reads = new Reads((work) => {
    sessions.push(context.getStore());
    return work(session as Session);
  });
  const read = (name: string) => context.run(name, () => reads.run({ name, text: name }, []));
  expect(await Promise.all([read('one'), read('two')])).toEqual([[['one', 'one']], [['two', 'two']]]);
  expect(sessions).toEqual(['one']);
});
