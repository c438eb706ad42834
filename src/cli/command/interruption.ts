import { constants } from 'node:os';
import { CommandFailure } from './command-failure';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Lets Ctrl-C and SIGTERM stop the work cleanly; a second one ends the process.
 * @param outcome the state after an interruption, as in "interrupted; nothing was imported"
 * @param work must reject with the signal's reason when it is aborted
 */
export async function interruptible<Result>(
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  // The exit code that shells use for signals.
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
