/**
 * Signals within this time, in milliseconds, count as one. Ctrl-C reaches all processes of a terminal, and npm, npx and the
 * primary process also pass the signal on.
 */
const SAME_SIGNAL_MS = 500;

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignals = ReturnType<typeof listenToStopSignals>;

/**
 * Listens to stop signals. The first signal asks the process to stop, the second one to stop without waiting. Call this
 * function before any other: a signal without a listener ends the process immediately, and unfinished work stays behind.
 */
export function listenToStopSignals(source: Pick<NodeJS.Process, 'on'> = process) {
  const listen = (listener: (signal: NodeJS.Signals) => void) =>
    NAMES.forEach((name) => source.on(name, listener));
  const first = new Promise<NodeJS.Signals>(listen);
  let firstAt: number | undefined;
  const second = new Promise<NodeJS.Signals>((resolve) =>
    listen((signal) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > SAME_SIGNAL_MS) {
        resolve(signal);
      }
    }),
  );
  return { first, second };
}
