import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import type { Logger } from 'pino';
import { type StopSignals, listenToStopSignals } from '../stop-signals';

/** A worker that ends soon after its start would end again: the next one waits this long. */
const RESTART_MS = 1_000;

/** What a worker is told when it has to stop. */
const STOP = { stop: true };

/** In a worker: being told to stop. Signals of a terminal or a supervisor reach all processes; the first one passes them on. */
export function listenToPrimary(): StopSignals {
  const signals = new EventEmitter();
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on(
    'message',
    (message) => (message as Partial<typeof STOP>).stop && signals.emit('SIGTERM', 'SIGTERM'),
  );
  return listenToStopSignals(signals as never);
}

/** The worker processes of a service: starts them, replaces those that die, stops them. */
export class WorkerProcesses {
  private stopping = false;
  /** Workers that have begun to listen. */
  private readonly listening = new Set<number>();

  /**
   * @param environment what a worker's environment has besides this process's own
   * @param onStart called with each worker before it runs
   */
  constructor(
    private readonly count: number,
    private readonly environment: Record<string, string>,
    private readonly onStart: (worker: Worker) => void,
    private readonly logger: Logger,
  ) {}

  /**
   * Starts all workers; the first one alone, so that what is wrong is said once.
   * @returns the address that all of them listen on, or null when one has ended before it listened
   */
  async start(): Promise<{ port: number } | null> {
    const first = await this.fork();
    const others = first && (await Promise.all(Array.from({ length: this.count - 1 }, () => this.fork())));
    return others?.includes(null) ? null : first;
  }

  /** Tells all workers to stop; once more, that they shall hurry. Resolves when none is left. */
  async stop(): Promise<void> {
    this.stopping = true;
    const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      running.map(async (worker) => {
        const ended = once(worker, 'exit');
        worker.send(STOP, () => undefined);
        await ended;
      }),
    );
  }

  private async fork(): Promise<{ port: number } | null> {
    const worker = cluster.fork(this.environment);
    this.onStart(worker);
    worker.once('exit', (code: number, signal: string | null) =>
      this.onExit(worker, signal ?? `code ${code}`),
    );
    const [address] = (await Promise.race([
      once(worker, 'listening'),
      once(worker, 'exit').then(() => [null]),
    ])) as [{ port: number } | null];
    if (address !== null) {
      this.listening.add(worker.id);
    }
    return address;
  }

  private onExit(worker: Worker, how: string): void {
    if (this.stopping) {
      return;
    }
    // A worker that never listened was being waited for: at the start that ends the service, later it is tried again.
    if (this.listening.delete(worker.id)) {
      this.logger.warn(`Worker ${worker.id} exited (${how}); starting another.`);
      void this.replace();
    }
  }

  private async replace(): Promise<void> {
    while (!this.stopping && (await this.fork()) === null) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    }
  }
}
