/**
 * Ctrl-C reaches all processes of a terminal, and npm, npx and the first of several processes pass it on. Within this time
 * that is one signal.
 */
const SAME_SIGNAL_MS = 500;

/** SIGHUP is one of them: the terminal was closed. */
const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignals = ReturnType<typeof listenToStopSignals>;

/**
 * The first signal asks to stop, the second to stop without waiting.
 * Call it before anything else: a signal that nobody listens to ends the process, and what it has begun stays.
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
