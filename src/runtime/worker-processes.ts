import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Logger } from 'pino';
import { AppModule } from '../app.module';
import { FEATURES } from '../features';
import type { Settings } from '../settings';
import { ReportedStartError, StartError } from './failures';
import { nestLogger } from './logging';
import { metricsOf, serveMetrics } from './metrics';
import { NEST_OPTIONS, type Running } from './service';
import type { StopSignals } from './stop-signals';

/** The workers divide the pool among themselves; each has at least this many connections. */
const MIN_POOL = 2;
/** The pause before a worker is started again doubles until it has run for a while: what it lacks may be back by then. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const STEADY_MS = 60_000;
/** How long the workers may take to stop beyond the delay, and after a second signal. Then they are stuck, and killed. */
const STOP_MS = 35_000;
const HURRY_MS = 3_000;

/**
 * The first process of a service whose workers share its port. It prepares the store and holds an embedded database. Each
 * worker is an instance, and is started again when it ends.
 */
export class WorkerProcesses implements Running {
  private readonly ending = new AbortController();
  private readonly running = new Set<Worker>();

  constructor(
    private readonly settings: Settings,
    private readonly databaseUrl: string,
    private readonly logger: Logger,
    private readonly count: number,
  ) {}

  /** Starts the first worker alone, so that a failed start is reported once, by that worker. */
  async start(prepare: (store: INestApplicationContext) => Promise<void>): Promise<number> {
    await this.prepare(prepare);
    this.ending.signal.throwIfAborted();
    await serveMetrics(this.settings.metrics, () => metricsOf([...this.running], this.count));
    const first = this.fork();
    const ended = endOf(first).then((how) => {
      throw how.startsWith('ended') ? new ReportedStartError() : new StartError(`A worker ${how}.`);
    });
    const [address] = (await Promise.race([once(first, 'listening'), ended])) as [{ port: number }];
    this.ending.signal.throwIfAborted();
    void this.keepRunning(first);
    for (let others = 1; others < this.count; others += 1) {
      void this.keepRunning(this.fork());
    }
    return address.port;
  }

  /** The workers wait for load balancers themselves. */
  async stop(signals: StopSignals, delayMs: number): Promise<void> {
    this.ending.abort();
    const killLater = (ms: number) => setTimeout(() => this.signalWorkers('SIGKILL'), ms).unref();
    void signals.second.then(() => {
      killLater(HURRY_MS);
      this.signalWorkers('SIGTERM');
    });
    const ended = [...this.running].map(endOf);
    killLater(delayMs + STOP_MS);
    this.signalWorkers('SIGTERM');
    await Promise.all(ended);
  }

  /** Migrates before the workers start, so that they find the newest schema. */
  private async prepare(prepare: (store: INestApplicationContext) => Promise<void>): Promise<void> {
    const store = await NestFactory.createApplicationContext(
      AppModule.forPreparation(this.settings, this.databaseUrl),
      { ...NEST_OPTIONS, logger: nestLogger(this.logger) },
    );
    await prepare(store);
    await store.close();
  }

  private fork(): Worker {
    const { databasePool, databaseUrl, instances } = this.settings;
    const worker = cluster.fork({
      ...(databaseUrl === undefined && { DATABASE_URL: this.databaseUrl }),
      DATABASE_POOL: String(Math.max(MIN_POOL, Math.floor(databasePool / this.count))),
      INSTANCES: String(Math.max(instances, this.count)),
      ...Object.assign({}, ...FEATURES.map((feature) => feature.workerEnvironment?.(this.settings))),
    });
    this.running.add(worker);
    void endOf(worker).then(() => this.running.delete(worker));
    return worker;
  }

  /** Starts another worker whenever this one, or its successor, has ended. */
  private async keepRunning(first: Worker): Promise<void> {
    let worker = first;
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.ending.signal.aborted) {
      const startedAt = performance.now();
      const how = await endOf(worker);
      if (this.ending.signal.aborted) {
        return;
      }
      pauseMs = performance.now() - startedAt > STEADY_MS ? FIRST_PAUSE_MS : pauseMs;
      this.logger.warn(`Worker ${worker.id} ${how}; another starts in ${pauseMs / 1_000} s.`);
      await pause(pauseMs, undefined, { signal: this.ending.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      if (!this.ending.signal.aborted) {
        worker = this.fork();
      }
    }
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
