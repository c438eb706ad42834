import cluster from 'node:cluster';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Connections } from '#libs/http';
import { createApp } from './create-app';
import { announce } from './announce';
import { explainAddress } from './failures';
import { MetricsService } from './metrics';
import { openDatabase } from './open-database';
import { createLogger, endLog, terminalLog } from './logging';
import type { Settings } from '../settings';
import { type RunningService, shutDown } from './shutdown';
import { listenToStopSignals } from './stop-signals';
import type { Tracing } from './tracing';
import { listenToPrimary } from './workers';
import { withWebhookKey } from './webhook-key';

/** Runs the service until SIGTERM or SIGINT, then finishes open requests and writes buffered data. */
export async function serve(settings: Settings, tracing?: Tracing): Promise<void> {
  const signals = cluster.isWorker ? listenToPrimary() : listenToStopSignals();
  // A closed output must not stop the service.
  process.stdout.on('error', () => undefined);
  const logger = createLogger(settings.logLevel, await terminalLog(process.stdout, process.env), () => ({
    worker: cluster.worker?.id,
    ...tracing?.logContext(),
  }));
  tracing?.misreadings.forEach((message) => logger.warn(`Traces: ${message}`));
  tracing?.onFailure((reason) => logger.warn(`Traces cannot be sent: ${reason}`));
  if (settings.redisUrl !== undefined && settings.instances === 1) {
    logger.warn('INSTANCES is 1: if Redis fails, every instance allows the full limit.');
  }
  const database = await openDatabase(settings, (line) => logger.info(line), true);
  let service: RunningService | undefined;
  let delayMs = 0;
  const begin = async () => {
    const app = await createApp(withWebhookKey(settings), database.url, logger, tracing);
    service = { app, connections: watchConnections(app) };
    await listen(app, settings);
    if (!cluster.isWorker) {
      const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
      await announce(app, database, settings.host, port);
    }
  };
  try {
    // A start that waits, for example for another instance's migration, can be interrupted too.
    await Promise.race([begin(), signals.first]);
    logger.info(`${await signals.first}: stopping`);
    delayMs = settings.shutdownDelaySeconds * 1_000;
  } finally {
    try {
      await (service && shutDown(service, signals, delayMs, logger));
    } finally {
      await database.close();
      await tracing?.close();
      await endLog(logger);
    }
  }
}

function watchConnections(app: NestFastifyApplication): Connections {
  const connections = new Connections(app.getHttpServer() as Server);
  const metrics = app.get(MetricsService);
  metrics.gauge('petstore_http_connections', 'Open connections of callers.', () => connections.open);
  metrics.gauge(
    'petstore_http_requests_in_progress',
    'Requests in progress.',
    () => connections.requestsInProgress,
  );
  return connections;
}

async function listen(app: NestFastifyApplication, { host, port, metrics }: Settings): Promise<void> {
  await explainAddress('HOST and PORT', { host, port }, () => app.listen(port, host));
  if (metrics && !cluster.isWorker) {
    await explainAddress('METRICS_PORT', metrics, () => app.get(MetricsService).listen(metrics));
  }
}
