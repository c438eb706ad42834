import { createInterface } from 'node:readline/promises';
import { printable } from '../../runtime/messages';
import { CommandFailure, UsageError } from './command-failure';

/**
 * Asks for confirmation. Scripts must pass --yes.
 * @param question what is about to happen: `Revoke key 3 of acme?`
 * @throws UsageError without a terminal; CommandFailure if the answer is no
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    return;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Add --yes to confirm.`, 'confirmation_required');
  }
  // Standard output is for the result, and may be redirected.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${printable(question)} [y/N] `), closed]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new CommandFailure('not confirmed; nothing was changed.', { code: 'not_confirmed' });
  }
}
