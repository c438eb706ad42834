import { messageOf } from './errors';

/** How often a supervised server is looked at, in milliseconds. */
const LOOK_EVERY = 500;
/** The longest pause between two attempts to start it again, in milliseconds; it doubles up to this. */
const LONGEST_PAUSE = 30_000;

export interface Supervised {
  /** Looks whether the server runs; it is asked often, so it has to be cheap. */
  runs: () => boolean;
  /** Brings the server back, or joins one that somebody else has brought back. */
  restart: () => Promise<void>;
  log: (line: string) => void;
}

/**
 * Looks after a server and has it started again when it died. Attempts that fail are told of, and repeated
 * after growing pauses for as long as it takes. Does not keep the process alive.
 *
 * @returns what ends it: no attempt begins afterwards, though one may be under way
 */
export function supervise({ runs, restart, log }: Supervised): () => void {
  let failures = 0;
  let ended = false;
  let timer: NodeJS.Timeout;

  const lookAgain = (): void => {
    if (ended) return;
    timer = setTimeout(() => void look(), Math.min(LOOK_EVERY * 2 ** failures, LONGEST_PAUSE));
    timer.unref();
  };
  const look = async (): Promise<void> => {
    try {
      if (!runs()) await restart();
      failures = 0;
    } catch (error) {
      failures += 1;
      log(`PostgreSQL died and is not back: ${messageOf(error)}`);
    }
    lookAgain();
  };

  lookAgain();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
