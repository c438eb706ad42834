/**
 * Signals within this many milliseconds count as one signal, because a process may get Ctrl-C from the terminal and
 * again from npm.
 */
const SAME_SIGNAL_MS = 500;

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignals = ReturnType<typeof listenToStopSignals>;

/**
 * Listens to stop signals. Call this function before everything else, because a signal without a listener ends the
 * process without any cleanup.
 */
export function listenToStopSignals() {
  const listen = (listener: (signal: NodeJS.Signals) => void) =>
    NAMES.forEach((name) => process.on(name, listener));
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
