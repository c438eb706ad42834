import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { STOP } from './stop-signals';

/** Pause before the next attempt when a worker cannot start: it would probably fail again. */
const RESTART_MS = 1_000;
/** The sign of life of a worker, and how often it sends it. */
const BEAT = { beat: true };
const BEAT_MS = 1_000;
/** A worker that misses so many of them hangs. */
const MISSED_BEATS = 10;

/** In a worker: lets the first process see from now on that the event loop turns. */
export function sendSignsOfLife(): void {
  setInterval(() => process.send!(BEAT, undefined, undefined, () => undefined), BEAT_MS).unref();
}

/** The worker processes of a service: starts them, replaces those that die or hang, stops them. */
export class WorkerProcesses {
  /** How many were replaced. */
  replaced = 0;
  private stopping = false;
  /** Counted here and not measured, so that a pause of this process, or of the whole machine, is not held against them. */
  private readonly missedBeats = new Map<Worker, number>();
  private watchdog?: NodeJS.Timeout;
  /** Workers that have begun to listen. */
  private readonly listening = new Set<number>();

  /**
   * @param environment additional variables for the workers
   * @param onStart called with each worker before it runs
   */
  constructor(
    private readonly count: number,
    private readonly environment: Record<string, string>,
    private readonly onStart: (worker: Worker) => void,
    private readonly logger: Logger,
  ) {}

  /**
   * Starts the first worker alone, so that a failure is reported once, and then the others, again and again: what they
   * lack passes, such as a password that has changed since.
   * @returns the address that all of them listen on, or null if the first could not start, or the service is stopping
   */
  async start(): Promise<{ port: number } | null> {
    this.watchdog = setInterval(() => this.killHanging(), BEAT_MS).unref();
    const first = await this.fork();
    if (first === null || this.stopping) {
      // `stop` has asked the workers that there were: others would not be asked.
      return null;
    }
    await Promise.all(Array.from({ length: this.count - 1 }, () => this.forkUntilStarted()));
    return this.stopping ? null : first;
  }

  /** Those that have shown a sign of life lately. */
  get responding(): Worker[] {
    return [...this.missedBeats].filter(([, missed]) => missed < 3).map(([worker]) => worker);
  }

  /** Asks all workers to stop; the second call, to hurry. Resolves when none is left. */
  async stop(): Promise<void> {
    this.stopping = true;
    // A dead one stays in the list for a moment, and its `exit` may be over.
    const running = Object.values(cluster.workers ?? {})
      .filter((worker) => worker !== undefined)
      .filter((worker) => !worker.isDead());
    await Promise.all(
      running.map(async (worker) => {
        const ended = once(worker, 'exit');
        worker.send(STOP, () => undefined);
        await ended;
      }),
    );
    clearInterval(this.watchdog);
  }

  private killHanging(): void {
    for (const [worker, missed] of this.missedBeats) {
      this.missedBeats.set(worker, missed + 1);
      if (missed === MISSED_BEATS) {
        worker.process.kill('SIGKILL');
      }
    }
  }

  private async fork(): Promise<{ port: number } | null> {
    const worker = cluster.fork(this.environment);
    closeUndelivered(worker);
    this.onStart(worker);
    worker.on('message', (message: Partial<typeof BEAT>) => {
      if (message.beat) {
        this.missedBeats.set(worker, 0);
      }
    });
    worker.once('exit', (code: number, signal: string | null) =>
      this.onExit(worker, signal ?? `code ${code}`),
    );
    const [address] = (await Promise.race([
      once(worker, 'listening'),
      once(worker, 'exit').then(() => [null]),
    ])) as [{ port: number } | null];
    if (address !== null) {
      this.listening.add(worker.id);
      // Before its first sign of life: it may hang already, and its metrics count already.
      this.missedBeats.set(worker, 0);
    }
    return address;
  }

  private onExit(worker: Worker, how: string): void {
    const hung = (this.missedBeats.get(worker) ?? 0) > MISSED_BEATS;
    this.missedBeats.delete(worker);
    if (this.stopping) {
      return;
    }
    // If it never listened, `fork` returns null, and its caller decides.
    if (this.listening.delete(worker.id)) {
      this.replaced += 1;
      const what = hung ? `did not respond for ${MISSED_BEATS} s and was killed` : `exited (${how})`;
      this.logger.warn(`Worker ${worker.id} ${what}; starting another.`);
      void this.forkUntilStarted();
    }
  }

  private async forkUntilStarted(): Promise<void> {
    while (!this.stopping && (await this.fork()) === null) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    }
  }
}

/**
 * Closes the connection that was on its way to a worker when it died. Node hands them over one by one, keeps each open until
 * the worker has confirmed it, and closes none of a worker that no longer can: its caller would wait for ever.
 */
function closeUndelivered(worker: Worker): void {
  const child = worker.process as { send(...parts: unknown[]): boolean };
  const send = child.send.bind(child);
  let last: { close(): void } | undefined;
  child.send = (message, handle, ...rest) => {
    if (typeof handle === 'object' && handle !== null) {
      last = handle as typeof last;
    }
    return send(message, handle, ...rest);
  };
  // Nothing happens to one that is closed already.
  worker.once('exit', () => last?.close());
}
