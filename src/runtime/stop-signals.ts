/** A terminal sends Ctrl-C to everybody in it, and npm passes it on once more: within this time that is one signal. */
const SAME_SIGNAL_MS = 500;

/** The signals to stop: SIGTERM and SIGINT. */
export interface StopSignals {
  /** Told to stop. */
  first: Promise<NodeJS.Signals>;
  /** Told once more, by somebody who does not want to wait. */
  second: Promise<NodeJS.Signals>;
}

/** Called at the very start, or an embedded database would be left behind by a signal that comes before its listeners. */
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
