import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { defaults } from 'pg';
import type { Logger } from 'pino';
import type { FastifyInstance } from 'fastify';
import { AppModule } from '../app.module';
import { serveDocument } from '../http/document';
import { MetricsService } from './metrics';
import { configureHttp, createHttpAdapter } from '../http/http-server';
import { instanceName } from './instance-name';
import { bindWithoutDeprecatedProperty } from './lean-async-bind';
import { nestLogger } from './logging';
import type { Settings } from '../settings';
import type { Tracing } from './tracing';

/** Options of our Nest applications: a guard reads the body, and the caller reports a failed start. */
export const NEST_OPTIONS = { bodyParser: false, abortOnError: false } as const;

/** Adds what is neither a module nor an operation: the behaviour of the server and the interface description. */
export function configureServer(app: NestFastifyApplication, settings: Settings, tracing?: Tracing): void {
  bindWithoutDeprecatedProperty();
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  // The first hook, so that the span covers all work for the request.
  tracing?.watch(fastify);
  if (settings.metrics) {
    app.get(MetricsService).watch(fastify);
  }
  configureHttp(app, settings);
  serveDocument(app, settings);
}

/** The application, ready to listen. */
export async function createApp(
  settings: Settings,
  databaseUrl: string,
  logger: Logger,
  tracing?: Tracing,
): Promise<NestFastifyApplication> {
  // Default name of database sessions, such as the one with the instance's lock.
  defaults.application_name = instanceName();
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forService(settings, databaseUrl),
    createHttpAdapter(settings, logger),
    { ...NEST_OPTIONS, logger: nestLogger(logger) },
  );
  configureServer(app, settings, tracing);
  return app;
}
