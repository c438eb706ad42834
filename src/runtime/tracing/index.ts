import { DiagLogLevel, ROOT_CONTEXT, context, diag, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import type { FastifyInstance } from 'fastify';
import { traceRequests } from './request-spans';

const SERVICE_NAME = 'petstore';
/** What is not sent by then is lost: nobody waits for a collector that is away. */
const FLUSH_MS = 2_000;
/** An unavailable collector is reported once in this time. */
const COMPLAIN_MS = 60_000;

/** Traces of this process, sent to a collector. */
export interface Tracing {
  /** Traces the requests of this server. */
  watch(fastify: FastifyInstance): void;
  /** What a line of the log has to carry to be found from its trace. */
  logContext(): object;
  /** What OpenTelemetry says of variables that it cannot use, and replaces by its defaults; a line for each. */
  readonly misreadings: readonly string[];
  /** Told when traces cannot be sent; at most once a minute. */
  onFailure(tell: (reason: string) => void): void;
  /** Sends what is waiting, within two seconds. Never rejects. */
  close(): Promise<void>;
}

/**
 * Begins to trace. Called before anything is loaded that is to be traced (the drivers of PostgreSQL and Redis, which are
 * changed as they are loaded). Where to, how much and under which name is read from the environment by OpenTelemetry's
 * own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME`, ...).
 */
export function startTracing(): Tracing {
  // The names of attributes that are stable since 2025, and not those of the drafts before.
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN ??= 'http,database';
  // A sampler with a slip in its name would silently trace everything.
  const misreadings = new Set<string>();
  listen((message) => misreadings.add(message));
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  traceDrivers();
  return {
    misreadings: [...misreadings],
    watch: (fastify) => traceRequests(fastify, provider.getTracer(SERVICE_NAME)),
    logContext: currentTrace,
    onFailure: tellOfFailures,
    close: async () => {
      const late = new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

/** What the service does by itself, without a request, is not traced. Values are not told, and no arguments of Redis's commands. */
function traceDrivers(): void {
  new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true });
  new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command });
}

function currentTrace(): object {
  const span = trace.getSpan(context.active());
  return span === undefined ? {} : { traceId: span.spanContext().traceId };
}

function tellOfFailures(tell: (reason: string) => void): void {
  let toldAt = -Infinity;
  const complain = (reason: string): void => {
    if (performance.now() - toldAt > COMPLAIN_MS) {
      toldAt = performance.now();
      // It is no matter of the request that happened to start the sending.
      context.with(ROOT_CONTEXT, () => tell(messageOf(reason)));
    }
  };
  listen(complain);
}

/** Takes what OpenTelemetry says of failures from now on; whoever took it before hears no more. */
function listen(take: (message: string) => void): void {
  const ignore = (): void => undefined;
  const logger = { error: take, warn: take, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** The SDK writes an error down as a JSON object of all that it has, its stack among it. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as Error).message;
  } catch {
    return text;
  }
}
