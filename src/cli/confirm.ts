import { createInterface } from 'node:readline';
import { CommandFailure } from './command-failure';

/** A process that Ctrl-C ends has this exit code in a shell. */
const INTERRUPTED = 130;

/**
 * Asks before a command destroys something or cuts somebody off. Goes on when the answer is yes, or `--yes` was given.
 * @param question what will happen, as a question: `Replace the database in .petstore?`
 * @throws CommandFailure when the answer is anything else, or there is nobody to ask
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    return;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandFailure(`${question} Without a terminal this needs --yes.`);
  }
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new CommandFailure('nothing was changed.');
  }
}

/** Asks on standard error: the output of the command may go elsewhere. */
function ask(question: string): Promise<string> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve, reject) => {
    // Ctrl-C and the end of the input close it without an answer.
    prompt.once('close', () => reject(new CommandFailure('nothing was changed.', INTERRUPTED)));
    prompt.question(question, (answer) => {
      resolve(answer);
      prompt.close();
    });
  });
}
