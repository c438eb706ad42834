import type { Worker } from 'node:cluster';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Logger } from 'pino';
import { AppModule } from '../app.module';
import { WorkerQuotaServer, newServiceId } from '../modules/quotas';
import type { Settings } from '../settings';
import { ReportedStartError } from './failures';
import { nestLogger } from './logging';
import { MetricsService } from './metrics';
import { NEST_OPTIONS, type Running } from './service';
import type { StopSignals } from './stop-signals';
import { WorkerProcesses } from './worker-processes';

/** The workers divide the pool among themselves; each has at least this many connections. */
const MIN_POOL = 2;
/** How long the rest may take after a second signal. */
const HURRY_MS = 3_000;

/**
 * The first process of a service whose workers share its port. It holds the database and counts the limits; the workers
 * answer requests. At the end the workers finish their requests, then the counts are written.
 */
export class FirstProcess implements Running {
  private context?: INestApplicationContext;
  private workers?: WorkerProcesses;
  private readonly metrics = new MetricsService();

  constructor(
    private readonly settings: Settings,
    private readonly databaseUrl: string,
    private readonly logger: Logger,
    private readonly count: number,
  ) {}

  async start(): Promise<{ context: INestApplicationContext; port: number }> {
    const context = await NestFactory.createApplicationContext(
      AppModule.forFirstProcess(this.settings, this.databaseUrl),
      { ...NEST_OPTIONS, logger: nestLogger(this.logger) },
    );
    this.context = context;
    const counter = context.get(WorkerQuotaServer);
    const onStart = (worker: Worker) => worker.once('exit', counter.serve(worker));
    this.workers = new WorkerProcesses(this.count, this.workerEnvironment(), onStart, this.logger);
    await this.serveMetrics(this.workers);
    const address = await this.workers.start();
    if (address === null) {
      throw new ReportedStartError();
    }
    return { context, port: address.port };
  }

  /** The workers wait for load balancers themselves. */
  async stop(signals: StopSignals): Promise<void> {
    const { workers } = this;
    try {
      void signals.second.then(() => {
        setTimeout(() => process.exit(1), HURRY_MS).unref();
        return workers?.stop();
      });
      await workers?.stop();
    } finally {
      this.metrics.onApplicationShutdown();
      await this.context?.close();
    }
  }

  private async serveMetrics(workers: WorkerProcesses): Promise<void> {
    const { metrics } = this;
    metrics.watchProcess();
    metrics.counter(
      'petstore_workers_replaced_total',
      'Workers that ended or hung, and were replaced.',
      () => workers.replaced,
    );
    await metrics.listen(this.settings.metrics, () => workers.responding);
  }

  /** Beside the variables of this process. */
  private workerEnvironment(): Record<string, string> {
    const { databasePool, databaseUrl, webhookKey } = this.settings;
    return {
      // Workers read the file of another database themselves, for the sake of its changes.
      ...(databaseUrl === undefined && { DATABASE_URL: this.databaseUrl }),
      DATABASE_POOL: String(Math.max(MIN_POOL, Math.floor(databasePool / this.count))),
      PETSTORE_SERVICE_ID: String(newServiceId()),
      ...(webhookKey && { WEBHOOK_KEY: webhookKey.toString('base64'), WEBHOOK_KEY_FILE: '' }),
    };
  }
}
