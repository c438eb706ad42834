import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { inBackground } from '#libs/background';
import type { Settings } from '../settings';
import { ReportedStartError, StartError } from './failures';
import { metricsOf, serveMetrics } from './metrics';
import type { StopSignals } from './stop-signals';

/** The workers divide the pool among themselves; each has at least this many connections. */
const MIN_POOL = 2;
/** The pause before a worker is started again: what it lacks may be back by then. */
const RESTART_MS = 2_000;
/** How long the workers may take to stop beyond the delay, and after a second signal. Then they are stuck, and killed. */
const STOP_MS = 35_000;
const HURRY_MS = 3_000;

/** The workers of a service, which share its port. The first process only holds an embedded database and the metrics. */
export class WorkerProcesses {
  private readonly ending = new AbortController();
  private readonly running = new Set<Worker>();
  /** Workers that end are replaced, but not a first one that cannot start. */
  private hasStarted = false;

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
    private readonly count: number,
  ) {}

  /** Starts the first worker alone: it migrates the store, and reports by itself if it cannot start. */
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

  /** The workers wait for load balancers themselves. */
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
        this.logger.warn(`Worker ${worker.id} ${how}; another starts in ${RESTART_MS / 1_000} s.`);
        setTimeout(() => this.ending.signal.aborted || this.fork(), RESTART_MS);
      }
    });
    inBackground('Replacing a worker', replaced);
    return worker;
  }

  private signalWorkers(signal: NodeJS.Signals): void {
    this.running.forEach((worker) => worker.process.kill(signal));
  }
}

/** How a worker ended, in words. One that the system could not start has no exit, only an error. */
function endOf(worker: Worker): Promise<string> {
  return once(worker, 'exit').then(
    ([code, signal]) => `ended (${signal ?? `code ${code}`})`,
    (error: NodeJS.ErrnoException) => `could not be started (${error.code})`,
  );
}
