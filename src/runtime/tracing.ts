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
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const SERVICE_NAME = 'petstore';
/** Spans that are not sent by then are lost: the shutdown does not wait for an unavailable collector. */
const FLUSH_MS = 2_000;
/** An unavailable collector is reported at most once in this time. */
const COMPLAIN_MS = 60_000;

/** Traces of this process, sent to a collector. */
export interface Tracing {
  /** Traces the requests of this server. */
  watch(fastify: FastifyInstance): void;
  /** Fields that link a log line to its trace. */
  logContext(): object;
  /** Reports each variable that OpenTelemetry replaced with its default, and from now on that traces cannot be sent. */
  reportTo(warn: (message: string) => void): void;
  /** Sends pending spans within two seconds. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts tracing. Must run before the drivers of PostgreSQL and Redis are loaded, because they are instrumented while
 * loading. OpenTelemetry reads the collector, the sampling and the service name from its own environment
 * variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME`, ...).
 */
export function startTracing(): Tracing {
  // Use the attribute names that are stable since 2025, not those of earlier drafts.
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN ??= 'http,database';
  const reports = new Reports();
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  traceDrivers();
  return {
    watch: (fastify) => traceRequests(fastify, provider.getTracer(SERVICE_NAME)),
    logContext: currentTrace,
    reportTo: (warn) => reports.sendTo(warn),
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

/** What OpenTelemetry reports: a misspelled variable at the start, and later that traces cannot be sent. */
class Reports {
  private readonly misreadings = new Set<string>();
  private take = (message: string): void => void this.misreadings.add(message);

  constructor() {
    const take = (message: string): void => this.take(message);
    const ignore = (): void => undefined;
    const logger = { error: take, warn: take, info: ignore, debug: ignore, verbose: ignore };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  }

  sendTo(warn: (message: string) => void): void {
    this.misreadings.forEach((message) => warn(`Traces: ${message}`));
    let reportedAt = -Infinity;
    this.take = (reason) => {
      if (performance.now() - reportedAt > COMPLAIN_MS) {
        reportedAt = performance.now();
        // The export does not belong to the request that happened to trigger it.
        context.with(ROOT_CONTEXT, () => warn(`Traces cannot be sent: ${messageOf(reason)}`));
      }
    };
  }
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
    [ATTR_HTTP_REQUEST_METHOD]: request.method,
    [ATTR_URL_PATH]: pathOf(request.url),
    [ATTR_URL_SCHEME]: request.protocol,
    ...(route === undefined ? {} : { [ATTR_HTTP_ROUTE]: route }),
    'http.response.header.x-request-id': [request.id],
  };
}

/** Without the query, and without a key that is in the path by mistake. */
function pathOf(target: string): string {
  return target.split('?', 1)[0]!.replace(/psk_live_[^/]*/g, 'psk_live_…');
}

function finish(span: Span, { statusCode, raw }: FastifyReply): void {
  if (raw.writableFinished) {
    span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, statusCode);
  }
  if (statusCode >= 500) {
    span.setAttribute(ATTR_ERROR_TYPE, String(statusCode));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
