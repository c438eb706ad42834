import cluster from 'node:cluster';
import type { INestApplicationContext } from '@nestjs/common';
import type { Settings } from '../settings';
import { FirstProcess } from './first-process';
import { createLogger, endLog, terminalLog } from './logging';
import { PETSTORE } from './messages';
import { type OpenDatabase, openDatabase } from './open-database';
import { DEMO_CLIENT, SeedService } from './seed';
import { type Running, Service } from './service';
import { listenToPrimary, listenToStopSignals } from './stop-signals';
import type { Tracing } from './tracing';
import { withWebhookKey } from './webhook-key';
import { sendSignsOfLife } from './worker-processes';

/**
 * Runs the service until a signal to stop, then finishes open requests and writes buffered data.
 * @param workers the number of worker processes that answer requests; 0 if this process does
 */
export async function serve(settings: Settings, workers: number, tracing?: Tracing): Promise<void> {
  const signals = cluster.isWorker ? listenToPrimary() : listenToStopSignals();
  if (cluster.isWorker) {
    sendSignsOfLife();
  }
  // A closed output must not stop the service.
  process.stdout.on('error', () => undefined);
  const logContext = tracing && (() => tracing.logContext());
  const logger = createLogger(settings.logLevel, await terminalLog(process.stdout, process.env), logContext);
  tracing?.reportTo((message) => logger.warn(message));
  if (settings.redisUrl !== undefined && settings.instances === 1 && cluster.isPrimary) {
    logger.warn('INSTANCES is 1: if Redis fails, every instance allows the full limit.');
  }
  const database = await openDatabase(settings, (line) => logger.info(line), true);
  let running: Running | undefined;
  let delayMs = 0;
  const begin = async () => {
    const complete = withWebhookKey(settings);
    running =
      workers > 0
        ? new FirstProcess(complete, database.url, logger, workers)
        : new Service(complete, database.url, logger, tracing);
    const { context, port } = await running.start();
    if (cluster.isPrimary) {
      await announce(context, database, { host: settings.host, port });
    }
  };
  try {
    // A start that waits, for example for another instance's migration, can be interrupted too.
    await Promise.race([begin(), signals.first]);
    logger.info(`${await signals.first}: stopping`);
    delayMs = settings.shutdownDelaySeconds * 1_000;
  } finally {
    try {
      await running?.stop(signals, delayMs);
    } finally {
      await database.close();
      await tracing?.close();
      await endLog(logger);
    }
  }
}

/**
 * Prints the address of the service. The first start of an embedded database also seeds the store. On a terminal it prints a
 * key; elsewhere a log may keep what is printed, and others may read it.
 */
export async function announce(
  context: INestApplicationContext,
  database: Pick<OpenDatabase, 'embedded'>,
  { host, port }: { host: string; port: number },
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): Promise<void> {
  const seed = context.get(SeedService);
  const first = database.embedded && (await seed.isFirstRun());
  const key = first ? (await seed.seed(Boolean(output.isTTY))).key : null;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = first ? DEMO_CLIENT : '<client>';
  output.write(`
Pet Store is ready.

  Service    ${url}
  Docs       ${url}/docs
  OpenAPI    ${url}/openapi.json

${key === null ? `To issue a key: ${PETSTORE} keys issue ${client} (clients: ${PETSTORE} clients list)` : firstKey(url, key)}

`);
}

function firstKey(url: string, key: string): string {
  return `Your first API key, for the client ${DEMO_CLIENT} on the free plan. It is shown only once:

  ${key}

Try it:

  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`;
}
