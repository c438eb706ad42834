import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Connections } from '#libs/http';
import { AppModule } from '../app.module';
import { serveDocument } from '../http/document/serve-document';
import { configureHttp, createHttpAdapter } from '../http/http-server';
import { callInterceptorsDirectly } from '../http/response.interceptor';
import { EventTail } from '../modules/events';
import type { Settings } from '../settings';
import { explainAddress } from './failures';
import { Readiness } from './health';
import { nestLogger } from './logging';
import { createMetrics, serveMetrics } from './metrics';
import { Presence } from './presence';
import type { StopSignals } from './stop-signals';
import type { Tracing } from './tracing';

/** Options of our Nest applications: their bodies are JSON alone, and the caller reports a failed start. */
export const NEST_OPTIONS = { bodyParser: false, abortOnError: false } as const;

/** How long open requests may take once the service has stopped listening. */
const DRAIN_MS = 25_000;
/** How long the rest of the work may take after a second signal. */
const HURRY_MS = 2_000;

/** What a process runs between its start and its end. */
export interface Running {
  /**
   * @param prepare called with the migrated store, before anybody is served
   * @returns the port that it listens on
   */
  start(prepare: (store: INestApplicationContext) => Promise<void>): Promise<number>;
  /**
   * Stops what has been started so far.
   * @param delayMs how long it still serves, while it says that it is not ready
   */
  stop(signals: StopSignals, delayMs: number): Promise<void>;
}

/** Adds what is neither a module nor an operation: the behaviour of the server, its metrics and the OpenAPI document. */
export function configureServer(app: NestFastifyApplication, settings: Settings, tracing?: Tracing) {
  callInterceptorsDirectly();
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  // The first hook, so that the span covers all work for the request.
  tracing?.watch(fastify);
  const connections = configureHttp(app, settings);
  const metrics = settings.metrics && createMetrics(app, connections);
  serveDocument(app);
  return { connections, metrics };
}

/** The service in one process: alone, or as one of several workers. */
export class Service implements Running {
  private app?: NestFastifyApplication;
  private connections?: Connections;

  constructor(
    private readonly settings: Settings,
    private readonly databaseUrl: string,
    private readonly logger: Logger,
    private readonly tracing?: Tracing,
  ) {}

  async start(prepare: (store: INestApplicationContext) => Promise<void>): Promise<number> {
    const { settings, logger } = this;
    const app = await NestFactory.create<NestFastifyApplication>(
      AppModule.forService(settings, this.databaseUrl),
      createHttpAdapter(settings, logger),
      { ...NEST_OPTIONS, logger: nestLogger(logger) },
    );
    const { connections, metrics } = configureServer(app, settings, this.tracing);
    this.connections = connections;
    this.app = app;
    await prepare(app);
    const { host, port: asked } = settings;
    await explainAddress('HOST and PORT', { host, port: asked }, () => app.listen(asked, host));
    if (metrics && !cluster.isWorker) {
      await serveMetrics(settings.metrics, () => metrics.metrics());
    }
    const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
    await app.get(Presence).begin({ host, port });
    return port;
  }

  /**
   * Stops without losing requests. First `/health/ready` reports 503 while everything is still served for `delayMs`, until
   * load balancers have noticed. Then it stops listening, finishes open requests and writes buffered data. A second signal
   * skips the waits.
   */
  async stop(signals: StopSignals, delayMs: number): Promise<void> {
    const { app, connections, logger } = this;
    if (app === undefined || connections === undefined) {
      return;
    }
    app.get(Readiness).end();
    connections.announceEnd();
    let patienceMs = DRAIN_MS;
    void signals.second.then((signal) => {
      logger.warn(`${signal} again: stopping immediately`);
      patienceMs = 0;
      connections.destroyAll();
      setTimeout(() => process.exit(1), HURRY_MS).unref();
    });
    await Promise.race([pause(delayMs), signals.second]);
    // Requests that wait for events are answered now; their callers continue with another instance.
    app.get(EventTail).end();
    await connections.end(patienceMs);
    await app.close();
  }
}
