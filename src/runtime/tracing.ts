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
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const SERVICE_NAME = 'petstore';
/** Spans that are not sent by then are lost: the shutdown does not wait for an unavailable collector. */
const FLUSH_MS = 2_000;
/** An unavailable collector is reported at most once in this time. */
const COMPLAIN_MS = 60_000;

/** Traces of this process, sent to a collector. */
export type Tracing = ReturnType<typeof startTracing>;

/**
 * Starts tracing. Must run before the drivers of PostgreSQL and Redis are loaded, because they are instrumented while
 * loading. OpenTelemetry reads the collector, the sampling and the service name from its own environment
 * variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME`, ...).
 */
export function startTracing() {
  // Use the attribute names that are stable since 2025, not those of earlier drafts.
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN ??= 'http,database';
  const misreadings = new Set<string>();
  onReport((message) => misreadings.add(message));
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  traceDrivers();
  return {
    watch: (fastify: FastifyInstance) => traceRequests(fastify, provider.getTracer(SERVICE_NAME)),
    /** Fields that link a log line to its trace. */
    logContext: currentTrace,
    /** Reports each variable that OpenTelemetry replaced with its default, and from now on that traces cannot be sent. */
    reportTo: (warn: (message: string) => void) => {
      misreadings.forEach((message) => warn(`Traces: ${message}`));
      reportTo(warn);
    },
    /** Sends pending spans within two seconds. Never rejects. */
    close: async () => {
      const late = new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

/** Traces database and Redis calls only within a request. Records neither SQL values nor arguments of Redis commands. */
function traceDrivers(): void {
  new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true });
  new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command });
}

function currentTrace(): object {
  const span = trace.getSpan(context.active());
  return span === undefined ? {} : { traceId: span.spanContext().traceId };
}

/** Takes what OpenTelemetry reports: a misspelled variable at the start, and later that traces cannot be sent. */
function onReport(take: (message: string) => void): void {
  const ignore = (): void => undefined;
  const logger = { error: take, warn: take, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

function reportTo(warn: (message: string) => void): void {
  let reportedAt = -Infinity;
  onReport((reason) => {
    if (performance.now() - reportedAt > COMPLAIN_MS) {
      reportedAt = performance.now();
      // The export does not belong to the request that happened to trigger it.
      context.with(ROOT_CONTEXT, () => warn(`Traces cannot be sent: ${messageOf(reason)}`));
    }
  });
}

/** The SDK reports an error as a JSON object with all its fields, including the stack. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as Error).message;
  } catch {
    return text;
  }
}

/**
 * One span for each request, the parent of all work for it. It joins the trace in the caller's `traceparent`, if any.
 * Source: OpenTelemetry's semantic conventions for HTTP servers, and W3C Trace Context.
 */
function traceRequests(fastify: FastifyInstance, tracer: Tracer): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    // Load balancers check readiness every second; those spans would hide all others.
    if (route?.startsWith('/health/')) {
      done();
      return;
    }
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(request, route) };
    const span = tracer.startSpan(name, options, parent);
    request.traceId = span.spanContext().traceId;
    // Emitted whether the response was sent completely or the caller disconnected.
    reply.raw.once('close', () => finish(span, reply));
    context.with(trace.setSpan(parent, span), done);
  });
}

function attributesOf(request: FastifyRequest, route: string | undefined): Attributes {
  return {
    'http.request.method': request.method,
    'url.path': pathOf(request.url),
    'url.scheme': request.protocol,
    ...(route === undefined ? {} : { 'http.route': route }),
    'http.response.header.x-request-id': [request.id],
  };
}

/** Without the query, and without a key that is in the path by mistake. */
function pathOf(target: string): string {
  return target.split('?', 1)[0]!.replace(/psk_live_[^/]*/g, 'psk_live_…');
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
