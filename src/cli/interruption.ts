import { constants } from 'node:os';
import { CommandFailure } from './command-failure';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Does work that Ctrl-C and SIGTERM end in good order; a second time they end the process at once.
 * @param outcome what is left behind then, as in "interrupted; nothing was imported"
 * @param work stops when the signal is aborted, and is rejected with its reason
 */
export async function interruptible<Result>(
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  // A process that ends on a signal has this exit code in a shell.
  const interrupt = (name: NodeJS.Signals): void => {
    listen('removeListener');
    controller.abort(
      new CommandFailure(`interrupted; ${outcome}.`, {
        code: 'interrupted',
        exitCode: 128 + constants.signals[name],
      }),
    );
  };
  const listen = (method: 'on' | 'removeListener'): void =>
    SIGNALS.forEach((name) => process[method](name, interrupt));
  listen('on');
  try {
    return await work(controller.signal);
  } finally {
    listen('removeListener');
  }
}
