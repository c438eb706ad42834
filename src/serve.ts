import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { createApp } from './create-app';
import { MetricsService } from './metrics';
import { type OpenDatabase, openDatabase } from './open-database';
import { createLogger } from './pipeline/logger';
import { DEMO_CLIENT, SeedService } from './seed';
import type { Settings } from './settings';
import { type Startup, welcome } from './welcome';

/** A start that could not be; the message is one line for whoever started it. */
export class StartError extends Error {}

/** Runs the service until it is told to stop (SIGTERM, SIGINT), then ends what is under way and writes what is waiting. */
export async function serve(settings: Settings): Promise<void> {
  const logger = createLogger(settings.logLevel);
  const database = await openDatabase(settings, (line) => logger.info(line));
  let app: NestFastifyApplication | undefined;
  const stop = stopOnce(async () => {
    await app?.close();
    await database.close();
  });
  try {
    app = await createApp(settings, database.url, logger);
    app.get(MetricsService).watch(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
    await listen(app, settings);
    process.stdout.write(welcome(await describeStart(app, database, settings)));
  } catch (error) {
    await stop();
    throw error;
  }
  await new Promise<void>((resolve, reject) => {
    const leave = (signal: NodeJS.Signals) => {
      logger.info(`${signal}: stopping`);
      stop().then(resolve, reject);
    };
    process.on('SIGINT', leave);
    process.on('SIGTERM', leave);
  });
}

async function listen(app: NestFastifyApplication, { host, port, metrics }: Settings): Promise<void> {
  await explainPort('HOST and PORT', () => app.listen(port, host));
  if (metrics) {
    await explainPort('METRICS_PORT', () => app.get(MetricsService).listen(metrics));
  }
}

async function explainPort(variable: string, open: () => Promise<unknown>): Promise<void> {
  try {
    await open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const inUse = code === 'EADDRINUSE' ? 'is in use by another process; choose another' : message;
    throw new StartError(`The address of ${variable} cannot be listened on: it ${inUse}.`);
  }
}

async function describeStart(
  app: NestFastifyApplication,
  database: OpenDatabase,
  { host }: Settings,
): Promise<Startup> {
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  const seed = app.get(SeedService);
  const first = database.embedded && (await seed.isFirstRun());
  const key = first ? (await seed.seed()).key : null;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, key, client: DEMO_CLIENT };
}

/** A second signal while stopping changes nothing. */
function stopOnce(work: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  return () => (stopping ??= work());
}
