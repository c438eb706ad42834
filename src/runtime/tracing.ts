import {
  type Attributes,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  context,
  diag,
  propagation,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { withoutSecrets } from '#libs/messages';

const SERVICE_NAME = 'petstore';
const FLUSH_MS = 2_000;
const REPEAT_MS = 60_000;
const MAX_REPORTED = 100;

const EFFECTIVE =
  /^OTEL_(SERVICE_NAME|RESOURCE_ATTRIBUTES|SDK_DISABLED|TRACES_SAMPLER(_ARG)?|SEMCONV_STABILITY_OPT_IN|BSP_\w+|(SPAN_)?ATTRIBUTE_\w+|SPAN_\w+|EXPORTER_OTLP_(TRACES_)?(ENDPOINT|HEADERS|TIMEOUT|COMPRESSION|CERTIFICATE|CLIENT_\w+))$/;
/**
 * Variables of OpenTelemetry that the service does not read, because the service always behaves as if each variable had
 * the value that is listed here. If a variable is set to another value, the service logs a warning that the variable
 * has no effect.
 */
const FIXED_VALUES: Record<string, string> = {
  OTEL_TRACES_EXPORTER: 'otlp',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  OTEL_PROPAGATORS: 'tracecontext,baggage',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
};

/**
 * Removes the message of a failed span before the span is sent, because a message of PostgreSQL may repeat a value. The
 * code of the error stays.
 */
const withoutMessages: SpanProcessor = {
  onStart: () => undefined,
  onEnd(span) {
    Object.assign(span, { status: { code: span.status.code } });
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

export type Tracing = ReturnType<typeof startTracing>;

/**
 * Starts tracing. Call this function before the drivers of PostgreSQL and Redis are loaded, because only drivers that
 * are loaded later are traced.
 */
export function startTracing(logger: Logger) {
  // Use the stable attribute names of 2025 instead of the names of earlier drafts.
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN ??= 'http,database';
  reportProblems(logger);
  const ignored = Object.keys(process.env).filter(
    (name) =>
      name.startsWith('OTEL_') &&
      !EFFECTIVE.test(name) &&
      !['', FIXED_VALUES[name]].includes(process.env[name]),
  );
  if (ignored.length > 0) {
    logger.warn(
      `Traces: these variables have no effect: ${ignored.join(', ')} (see docs/operations/monitoring.md).`,
    );
  }
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [withoutMessages, new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  // Trace database calls only within a request, and without SQL values or arguments of Redis commands.
  new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true });
  new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command });
  return {
    watch: (fastify: FastifyInstance) => traceRequests(fastify, provider.getTracer(SERVICE_NAME)),
    /** Sends pending spans for up to two seconds, so that the shutdown does not hang. Never rejects. */
    close: async () => {
      const late = new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

function reportProblems(logger: Logger): void {
  const reported = new LRUCache<string, true>({ max: MAX_REPORTED, ttl: REPEAT_MS });
  const report = (text: string): void => {
    const problem = problemIn(text);
    if (!reported.has(problem)) {
      reported.set(problem, true);
      logger.warn(problem);
    }
  };
  const ignore = (): void => undefined;
  const reporter = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(reporter, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/**
 * Turns a message of OpenTelemetry into a log message. Invalid values and URLs are hidden, because they may be secrets.
 */
function problemIn(text: string): string {
  const shown = (message: string) =>
    withoutSecrets(message.replace(/\[".*"\]|(?<=URL: |instead of )'.*'/s, '…'));
  try {
    return `Traces cannot be sent: ${shown((JSON.parse(text) as Error).message)}`;
  } catch {
    return `Traces: ${shown(text)}`;
  }
}

/** Creates a span for each request, within the caller's trace if there is one (W3C Trace Context). */
function traceRequests(fastify: FastifyInstance, tracer: Tracer): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    // Do not trace health checks, which are so frequent that they would hide all other spans.
    if (route?.startsWith('/health/')) {
      done();
      return;
    }
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(request, route) };
    const span = tracer.startSpan(name, options, parent);
    request.traceId = span.spanContext().traceId;
    reply.raw.once('close', () => finish(span, reply));
    context.with(trace.setSpan(parent, span), done);
  });
}

function attributesOf(request: FastifyRequest, route: string | undefined): Attributes {
  return {
    'http.request.method': request.method,
    // Omit the query, and hide an API key that somebody put into the path by mistake.
    'url.path': request.url.split('?', 1)[0]!.replace(/psk_live_[^/]*/g, 'psk_live_…'),
    'url.scheme': request.protocol,
    ...(route === undefined ? {} : { 'http.route': route }),
    'http.response.header.x-request-id': [request.id],
  };
}

function finish(span: Span, { statusCode, raw }: FastifyReply): void {
  if (raw.writableFinished) {
    span.setAttribute('http.response.status_code', statusCode);
  }
  if (statusCode >= 500) {
    span.setAttribute('error.type', String(statusCode));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
