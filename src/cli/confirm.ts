import { createInterface } from 'node:readline/promises';
import { UsageError } from './command';
import { CommandFailure } from './command-failure';

/**
 * Asks before what destroys or cuts off. A script, which cannot be asked, has to say --yes.
 * @param question what is about to happen: `Revoke key 3 of acme?`
 * @throws UsageError where nobody can be asked; CommandFailure when the answer is no
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    return;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Add --yes to confirm.`, 'confirmation_required');
  }
  const { printable } = await import('../runtime/text.js');
  // Standard output may be redirected, and is for the result.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${printable(question)} [y/N] `), closed]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new CommandFailure('not confirmed; nothing was changed.', { code: 'not_confirmed' });
  }
}
