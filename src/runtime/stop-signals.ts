/** Ctrl-C reaches all processes of a terminal, and npm forwards it once more. Within this time both count as one signal. */
const SAME_SIGNAL_MS = 500;

/** The signals to stop: SIGTERM and SIGINT. */
export interface StopSignals {
  /** Resolves at the first signal: stop. */
  first: Promise<NodeJS.Signals>;
  /** Resolves at the second signal: stop without waiting. */
  second: Promise<NodeJS.Signals>;
}

/** Call it first: a signal that arrives before its listeners would leave the embedded database running. */
export function listenToStopSignals(source: Pick<NodeJS.Process, 'on'> = process): StopSignals {
  const listen = (listener: (signal: NodeJS.Signals) => void): void => {
    source.on('SIGINT', listener);
    source.on('SIGTERM', listener);
  };
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
