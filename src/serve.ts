import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { Connections } from '#libs/http';
import { createApp } from './create-app';
import { type MetricsAddress, MetricsService } from './metrics';
import { type OpenDatabase, openDatabase } from './open-database';
import { createLogger } from './pipeline/logger';
import { QuotaStore } from './quotas';
import { DEMO_CLIENT, SeedService } from './seed';
import type { Settings } from './settings';
import { StartError } from './start-error';
import { type Startup, welcome } from './welcome';

/** How long requests under way may take to end once the service is told to stop. */
const DRAIN_MS = 25_000;

/** Runs the service until it is told to stop (SIGTERM, SIGINT), then ends what is under way and writes what is waiting. */
export async function serve(settings: Settings): Promise<void> {
  const logger = createLogger(settings.logLevel);
  const toldToStop = stopSignal();
  if (settings.redisUrl !== undefined && settings.instances === 1) {
    logger.warn('INSTANCES is 1: while Redis is away, every instance lets the whole limit through.');
  }
  const database = await openDatabase(settings, (line) => logger.info(line), true);
  let app: NestFastifyApplication | undefined;
  let connections: Connections | undefined;
  const start = async () => {
    app = await createApp(settings, database.url, logger);
    connections = new Connections(app.getHttpServer() as Server);
    app.get(MetricsService).watch(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
    const quotas = app.get(QuotaStore);
    const help = 'Whether limits are counted by this instance alone because Redis is away (1) or not (0).';
    app.get(MetricsService).gauge('petstore_limits_degraded', help, () => Number(quotas.isDegraded()));
    await listen(app, settings);
    process.stdout.write(welcome(await describeStart(app, database, settings)));
  };
  try {
    // A start that waits for something (another instance that migrates, say) can be broken off as well.
    await Promise.race([start(), toldToStop]);
    logger.info(`${await toldToStop}: stopping`);
  } finally {
    try {
      connections?.end();
      await drain(app);
    } finally {
      await database.close();
    }
  }
}

/** Answers what is under way, writes what is waiting, and closes; who still reads after a while is left behind. */
async function drain(app: NestFastifyApplication | undefined): Promise<void> {
  const server = app?.getHttpServer() as Server | undefined;
  const deadline = setTimeout(() => server?.closeAllConnections(), DRAIN_MS);
  await app?.close();
  clearTimeout(deadline);
}

/** The first signal to stop. Listened to from the start, or an embedded database would be left behind; later ones change nothing. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGINT', resolve);
    process.on('SIGTERM', resolve);
  });
}

async function listen(app: NestFastifyApplication, { host, port, metrics }: Settings): Promise<void> {
  await explainAddress('HOST and PORT', { host, port }, () => app.listen(port, host));
  if (metrics) {
    await explainAddress('METRICS_PORT', metrics, () => app.get(MetricsService).listen(metrics));
  }
}

async function explainAddress(
  variable: string,
  { host, port }: MetricsAddress,
  open: () => Promise<unknown>,
): Promise<void> {
  try {
    await open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'it is in use by another process; choose another' : message;
    throw new StartError(`${host} port ${port} (${variable}) cannot be listened on: ${reason}.`);
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
