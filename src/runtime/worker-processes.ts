import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { inBackground } from '#libs/background';
import { StartError } from '#libs/messages';
import type { AllSettings } from '../all-settings';
import { ReportedStartError } from './failures';
import { metricsOf, serveMetrics } from './metrics';
import type { StopSignals } from './stop-signals';

/** Minimum number of database connections of each worker process. DATABASE_POOL is divided among the workers. */
const MIN_POOL = 2;
const RESTART_PAUSE_MS = 2_000;
/**
 * Maximum duration of a worker's shutdown, in milliseconds. After this time, the worker is killed. The time begins after
 * SHUTDOWN_DELAY, during which a worker that was told to stop still serves requests.
 */
const STOP_MS = 35_000;
/** Milliseconds after a second stop signal at which workers that are still running are killed. */
const HURRY_MS = 3_000;

/**
 * Runs the worker processes, which listen on the same port and answer the requests. The primary process only runs the
 * embedded database and serves the metrics.
 */
export class WorkerProcesses {
  private readonly ending = new AbortController();
  private readonly running = new Set<Worker>();
  /**
   * True once the first worker process listens. If a worker process ends before that, the start of the service fails.
   */
  private hasStarted = false;

  constructor(
    private readonly settings: AllSettings,
    private readonly logger: Logger,
    private readonly count: number,
  ) {}

  /**
   * Starts one worker process first, because this process migrates the store. Starts the others once the first one
   * listens.
   */
  async start(): Promise<void> {
    await serveMetrics(this.settings.metrics, () => metricsOf([...this.running], this.count));
    this.ending.signal.throwIfAborted();
    const first = this.fork();
    const ended = endOf(first).then((how) => {
      throw how.startsWith('ended') ? new ReportedStartError() : new StartError(`A worker ${how}.`);
    });
    await Promise.race([once(first, 'listening'), ended]);
    this.ending.signal.throwIfAborted();
    this.hasStarted = true;
    for (let others = 1; others < this.count; others += 1) {
      this.fork();
    }
  }

  /**
   * Stops all workers. Each worker serves requests for `delayMs` longer (SHUTDOWN_DELAY), until load balancers have
   * noticed the stop.
   */
  async stop(signals: StopSignals, delayMs: number): Promise<void> {
    this.ending.abort();
    const killLater = (ms: number) => setTimeout(() => this.signalWorkers('SIGKILL'), ms).unref();
    const hurry = signals.second.then(() => {
      killLater(HURRY_MS);
      this.signalWorkers('SIGTERM');
    });
    inBackground('Stopping the workers immediately', hurry);
    const ended = [...this.running].map(endOf);
    killLater(delayMs + STOP_MS);
    this.signalWorkers('SIGTERM');
    await Promise.all(ended);
  }

  private fork(): Worker {
    const { databasePool, instances } = this.settings;
    const worker = cluster.fork({
      DATABASE_POOL: Math.max(MIN_POOL, Math.floor(databasePool / this.count)),
      INSTANCES: Math.max(instances, this.count),
    });
    this.running.add(worker);
    const replaced = endOf(worker).then((how) => {
      this.running.delete(worker);
      if (this.hasStarted && !this.ending.signal.aborted) {
        this.logger.warn(`Worker ${worker.id} ${how}; another starts in ${RESTART_PAUSE_MS / 1_000} s.`);
        setTimeout(() => this.ending.signal.aborted || this.fork(), RESTART_PAUSE_MS);
      }
    });
    inBackground('Replacing a worker', replaced);
    return worker;
  }

  private signalWorkers(signal: NodeJS.Signals): void {
    this.running.forEach((worker) => worker.process.kill(signal));
  }
}

function endOf(worker: Worker): Promise<string> {
  return once(worker, 'exit').then(
    ([code, signal]) => `ended (${signal ?? `code ${code}`})`,
    (error: NodeJS.ErrnoException) => `could not be started (${error.code})`,
  );
}
