import { hostname, userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Format, SingleBar } from 'cli-progress';
import { OperatorError, UsageError, printable } from '#libs/messages';
import { interrupted } from './interruption';

/**
 * Matches the user names that are accepted from SUDO_USER. Anybody can set this variable to any text, so names with
 * spaces or control characters are ignored.
 */
const USER_NAME = /^[^\s\p{C}]{1,100}$/u;

/** Returns the user who runs this command. SUDO_USER is added only as a hint, because anybody can set this variable. */
export function operatorName(environment: Readonly<Record<string, string | undefined>>): string {
  const user = `${userName()}@${hostname()}`;
  const behind = environment.SUDO_USER ?? '';
  return USER_NAME.test(behind) ? `${user} (sudo by ${behind})` : user;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/**
 * Asks the operator for confirmation.
 * @param question describes the action, for example `Delete the file?`
 * @param yes skips the question; scripts must pass `--yes`
 * @throws UsageError if there is no terminal
 * @throws OperatorError if the answer is no
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    return;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Add --yes to confirm.`, 'confirmation_required');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  // While the terminal reads a line, Ctrl-C is an input character and not a signal. Send the signal from here.
  terminal.on('SIGINT', () => {
    process.stderr.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  const answered = terminal.question(`${printable(question)} [y/N] `);
  const answer = await Promise.race([answered, closed, interrupted]).finally(() => terminal.close());
  if (answer === undefined) {
    // The operator has closed the input (Ctrl-D) instead of pressing Enter, so the cursor is still on the line of the
    // question.
    process.stderr.write('\n');
  }
  if (answer === undefined || !/^y(es)?$/i.test(answer.trim())) {
    throw new OperatorError('not confirmed; nothing was changed.', 'not_confirmed');
  }
}

/**
 * Shows a progress bar on a terminal while the work runs.
 * @param noun the things that are counted, such as `rows`
 */
export async function withProgress<Result>(
  title: string,
  noun: 'lines' | 'rows',
  work: (bar: SingleBar) => Promise<Result>,
  stream = process.stderr,
): Promise<Result> {
  const bar = new SingleBar({
    stream,
    barsize: 20,
    clearOnComplete: true,
    format: (options, { progress, total }, { count = 0 }: { count?: number }) => {
      const share = `[${Format.BarFormat(progress, options)}] ${Math.floor(progress * 100)}%  `;
      return `${title} ${total > 0 ? share : ''}${count.toLocaleString('en-US')} ${noun}`;
    },
  });
  bar.start(0, 0, {});
  try {
    return await work(bar);
  } finally {
    bar.stop();
  }
}
