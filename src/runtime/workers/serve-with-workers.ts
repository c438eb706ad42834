import cluster from 'node:cluster';
import type { Server } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { AppModule } from '../../app.module';
import { WorkerQuotaServer, newServiceId } from '../../modules/quotas';
import type { Settings } from '../../settings';
import { announce } from '../announce';
import { NEST_OPTIONS } from '../create-app';
import { ReportedStartError, explainAddress } from '../failures';
import { createLogger, endLog, nestLogger, terminalLog } from '../logging';
import { serveMetrics } from '../metrics';
import { openDatabase } from '../open-database';
import { type StopSignals, listenToStopSignals } from '../stop-signals';
import { withWebhookKey } from '../webhook-key';
import { WorkerProcesses } from './worker-processes';

/** The workers divide the pool among themselves; each has at least this many connections. */
const MIN_POOL = 2;
/** How long the rest may take after a second signal. */
const HURRY_MS = 3_000;

/**
 * Runs the service in several processes that share its port. This first process holds the database and counts the
 * limits; the workers answer requests. At shutdown the workers finish their requests, then the counts are written, then
 * the database stops.
 */
export async function serveWithWorkers(settings: Settings, count: number): Promise<void> {
  const signals = listenToStopSignals();
  process.stdout.on('error', () => undefined);
  const logger = createLogger(settings.logLevel, await terminalLog(process.stdout, process.env));
  const database = await openDatabase(settings, (line) => logger.info(line), true);
  let workers: WorkerProcesses | undefined;
  let context: INestApplicationContext | undefined;
  let metrics: Server | undefined;
  const begin = async () => {
    context = await NestFactory.createApplicationContext(AppModule.forFirstProcess(settings, database.url), {
      ...NEST_OPTIONS,
      logger: nestLogger(logger),
    });
    workers = workersOf(withWebhookKey(settings), count, database.url, context, logger);
    metrics = await listenForMetrics(settings);
    const address = await workers.start();
    if (address === null) {
      throw new ReportedStartError();
    }
    await announce(context, database, settings.host, address.port);
  };
  try {
    await Promise.race([begin(), signals.first]);
    logger.info(`${await signals.first}: stopping`);
  } finally {
    try {
      await (workers && stop(workers, signals));
      metrics?.close();
      metrics?.closeAllConnections();
      await context?.close();
    } finally {
      await database.close();
      await endLog(logger);
    }
  }
}

function workersOf(
  { databasePool, webhookKey }: Settings,
  count: number,
  databaseUrl: string,
  context: INestApplicationContext,
  logger: Logger,
): WorkerProcesses {
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL: String(Math.max(MIN_POOL, Math.floor(databasePool / count))),
    PETSTORE_SERVICE_ID: String(newServiceId()),
    ...(webhookKey && { WEBHOOK_KEY: webhookKey.toString('base64') }),
  };
  // Keeps types (Infinity, undefined) that JSON would change.
  cluster.setupPrimary({ serialization: 'advanced' });
  const counter = context.get(WorkerQuotaServer);
  return new WorkerProcesses(
    count,
    environment,
    (worker) => worker.once('exit', counter.serve(worker)),
    logger,
  );
}

/** Serves the metrics of all workers, added up. */
function listenForMetrics({ metrics }: Settings): Promise<Server | undefined> {
  if (metrics === undefined) {
    return Promise.resolve(undefined);
  }
  const figures = new AggregatorRegistry();
  return explainAddress('METRICS_PORT', metrics, () => serveMetrics(metrics, () => figures.clusterMetrics()));
}

async function stop(workers: WorkerProcesses, signals: StopSignals): Promise<void> {
  void signals.second.then(() => {
    setTimeout(() => process.exit(1), HURRY_MS).unref();
    return workers.stop();
  });
  await workers.stop();
}
