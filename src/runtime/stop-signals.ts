/**
 * Signals within this many milliseconds count as one: Ctrl-C reaches all processes of a terminal, and npm, npx and the primary
 * process pass the signal on as well.
 */
const SAME_SIGNAL_MS = 500;

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignals = ReturnType<typeof listenToStopSignals>;

/**
 * Listens to stop signals. After the first signal the process stops, after the second one it stops without waiting. Must be
 * called before everything else, because a signal without a listener ends the process at once, without any cleanup.
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
