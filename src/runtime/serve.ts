import cluster from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger as NestLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { inBackground } from '#libs/background';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { type Connections, MAX_CONNECTIONS } from '#libs/http';
import { type AllSettings, warningsAbout } from '../all-settings';
import { AppModule } from '../app.module';
import { serveDocument } from '../http/document/serve-document';
import { Readiness } from '../http/health';
import { configureHttp, createHttpAdapter } from '../http/http-server';
import { callInterceptorsDirectly } from '../http/response.interceptor';
import { EventTail } from '../modules/events';
import type { Settings } from '../settings/settings';
import { type OpenDatabase, openDatabase } from '../store/open-database';
import { Presence } from '../store/presence';
import { seedFirstRun } from '../store/seed';
import { announce } from './announcement';
import { type AddressVariables, METRICS_ADDRESS, SERVICE_ADDRESS, explainAddress } from './failures';
import { endLog, nestLogger } from './logging';
import { createMetrics, serveMetrics } from './metrics';
import type { StopSignals } from './stop-signals';
import type { Tracing } from './tracing';
import { WorkerProcesses } from './worker-processes';

/** Turn off Nest's body parser, and let a failed start throw an error instead of ending the process. */
export const NEST_OPTIONS = { bodyParser: false, abortOnError: false } as const;

/** File descriptors for everything except sockets to callers, webhook receivers and the database. */
const OTHER_DESCRIPTORS = 200;

/**
 * How many connections may wait until the service accepts them. The system lowers this to its own maximum
 * (`net.core.somaxconn`). If a flood of connections fills a short queue, the system drops the next connection, and the
 * caller tries again only seconds later.
 */
const BACKLOG = 65_535;

/** How long current requests may take after the service has stopped listening, in milliseconds. */
const DRAIN_MS = 25_000;
/** Maximum duration of the shutdown after a second signal, in milliseconds. */
const HURRY_MS = 2_000;

interface ServeContext {
  settings: AllSettings;
  /** Number of worker processes that answer requests. 0 if this process answers requests itself. */
  workers: number;
  logger: Logger;
  tracing?: Tracing;
  signals: StopSignals;
}

type Stop = (delayMs: number) => Promise<void>;

/**
 * Runs the service until a stop signal: opens the database, starts the service or its workers, waits, and stops all in
 * the opposite order, also after a failed start.
 */
export async function serve(given: ServeContext): Promise<void> {
  const context = { ...given, settings: await withOneAddress(given.settings) };
  const { settings, workers, logger, tracing, signals } = context;
  warningsAbout(settings).forEach((warning) => logger.warn(warning));
  if (cluster.isPrimary) {
    await assertFree(SERVICE_ADDRESS, { host: settings.host, port: settings.port });
    await assertFree(METRICS_ADDRESS, settings.metrics);
  }
  const ending = new AbortController();
  NestLogger.overrideLogger(nestLogger(logger));
  inBackground(
    'Ending the start',
    signals.first.then(() => ending.abort()),
  );
  const stops: Stop[] = [() => endLog(logger), async () => tracing?.close()];
  const log = (line: string) => logger.info(line);
  const opening = openDatabase(settings, { log, mayCreate: true, signal: ending.signal }).catch(nameFolder);
  stops.push(async () => (await opening.catch(() => undefined))?.stop());
  const lost = opening.then(async (database) => {
    throw await database.lost;
  });
  const start = async (): Promise<void> => {
    const database = await opening;
    ending.signal.throwIfAborted();
    if (workers === 0) {
      await startService(context, database, stops);
    } else {
      const processes = new WorkerProcesses(settings, logger, workers);
      stops.push((delayMs) => processes.stop(signals, delayMs));
      await processes.start();
    }
  };
  let delayMs = 0;
  try {
    await Promise.race([start(), signals.first, lost]);
    logger.info(`${await Promise.race([signals.first, lost])}: stopping`);
    delayMs = settings.shutdownDelaySeconds * 1_000;
  } finally {
    await stopAll(stops, delayMs);
  }
}

/**
 * Runs all stops, in the reverse order of the starts. If a stop fails, the remaining stops still run. If several fail, only
 * the error of the stop that ran last is thrown.
 */
async function stopAll(stops: readonly Stop[], delayMs: number): Promise<void> {
  const errors: unknown[] = [];
  for (const stop of stops.toReversed()) {
    try {
      await stop(delayMs);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw errors.at(-1);
  }
}

/**
 * Throws the error again. If the embedded database has thrown it, the message first gets the name of the setting with
 * the folder, because the message itself has at most the path of the folder.
 */
function nameFolder(error: Error): never {
  throw error instanceof EmbeddedPostgresError
    ? new EmbeddedPostgresError(`DATA_DIR: ${error.message}`, { cause: error })
    : error;
}

/**
 * Replaces a host name in HOST by one of its addresses. For a name with two addresses, such as `localhost`, Fastify would
 * open a second server, whose connections would not be counted and limited.
 */
async function withOneAddress(settings: AllSettings): Promise<AllSettings> {
  const { host, port } = settings;
  const found = () => lookup(host, { order: 'ipv4first' });
  return { ...settings, host: (await explainAddress(SERVICE_ADDRESS, { host, port }, found)).address };
}

/**
 * Divides the file descriptors of this process, so that neither callers nor the feature that opens sockets to other
 * servers can take all of them. Callers get at most four fifths.
 */
function divideDescriptors(
  { databasePool }: Settings,
  logger: Logger,
): { connections: number; outgoing: number } {
  // Set `excludeNetwork`, because the diagnostic report would otherwise look up the host name of every open connection in
  // the DNS, and the process would wait for all answers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits: { open_files: { soft: unknown } } };
  const descriptors = Number(userLimits.open_files.soft);
  // If the number of descriptors has no limit, Node reports `unlimited`, and nothing is limited.
  if (Number.isNaN(descriptors)) {
    return { connections: MAX_CONNECTIONS, outgoing: Infinity };
  }
  const shared = descriptors - Math.ceil(Math.min(descriptors / 2, OTHER_DESCRIPTORS + databasePool));
  const connections = Math.min(MAX_CONNECTIONS, Math.floor(shared * 0.8));
  const outgoing = shared - connections;
  if (connections < MAX_CONNECTIONS) {
    logger.warn(
      `At most ${connections} connections are accepted instead of ${MAX_CONNECTIONS}, and at most ${outgoing} sockets ` +
        `are opened to other servers, because the process may have only ${descriptors} descriptors. ` +
        'Raise its limit (ulimit -n).',
    );
  }
  return { connections, outgoing };
}

/** Fails early, before a database is created, if another process already uses the address. */
async function assertFree(variables: AddressVariables, address: Settings['metrics']): Promise<void> {
  if (address !== null) {
    const probe = createServer();
    await explainAddress(variables, address, () => once(probe.listen(address), 'listening'));
    await once(probe.close(), 'close');
  }
}

export function configureServer(app: NestFastifyApplication, settings: Settings, tracing?: Tracing) {
  callInterceptorsDirectly();
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  // Add the hook for tracing first, so that the span covers all work for the request.
  tracing?.watch(fastify);
  const connections = configureHttp(app, settings);
  const metrics = settings.metrics && createMetrics(app, connections);
  serveDocument(app);
  return { connections, metrics };
}

/** Starts the service in this process, and adds the function that stops the service to `stops`. */
async function startService(context: ServeContext, database: OpenDatabase, stops: Stop[]): Promise<void> {
  const { settings, logger, tracing } = context;
  const sockets = divideDescriptors(settings, logger);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forService(settings, database.url, sockets.outgoing),
    createHttpAdapter(settings, logger),
    { ...NEST_OPTIONS, logger: nestLogger(logger) },
  );
  const { connections, metrics } = configureServer(app, settings, tracing);
  stops.push((delayMs) => stopService(context, app, connections, delayMs));
  const server = app.getHttpServer() as Server;
  server.maxConnections = sockets.connections;
  // Initialize the features before the seed. The seed creates a client, whose API key is shown only once the service is ready.
  // If a feature failed after the seed, for example because WEBHOOK_KEY is invalid, nobody would ever see this API key.
  await app.init();
  const seeded = database.isEmbedded ? await seedFirstRun(app) : undefined;
  const { host, port: asked } = settings;
  await explainAddress(SERVICE_ADDRESS, { host, port: asked }, () =>
    app.listen({ host, port: asked, backlog: BACKLOG }),
  );
  if (metrics && !cluster.isWorker) {
    await serveMetrics(settings.metrics, () => metrics.metrics());
  }
  const { port } = server.address() as AddressInfo;
  await app.get(Presence).begin({ address: host, port });
  if (cluster.isPrimary || cluster.worker?.id === 1) {
    announce({ host, port }, seeded, logger);
  }
}

/**
 * Stops the service. The service serves requests for `delayMs` longer, until load balancers have noticed the stop. A
 * second signal skips all waiting.
 */
async function stopService(
  { logger, signals }: ServeContext,
  app: NestFastifyApplication,
  connections: Connections,
  delayMs: number,
): Promise<void> {
  app.get(Readiness).announceStop();
  connections.announceEnd();
  let patienceMs = DRAIN_MS;
  const hurry = signals.second.then((signal) => {
    logger.warn(`${signal} again: stopping immediately`);
    patienceMs = 0;
    connections.destroyAll();
    setTimeout(() => process.exit(1), HURRY_MS).unref();
  });
  inBackground('Stopping immediately', hurry);
  await Promise.race([pause(delayMs), signals.second]);
  // End the requests that wait for events, so that callers continue with another instance.
  app.get(EventTail).endAllWaits();
  await connections.end(patienceMs);
  await app.close();
}
