import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  context,
  propagation,
  trace,
} from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The methods in the conventions; all others share one name. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
const OTHER = '_OTHER';

/**
 * One span for each request, the parent of all work for it. It joins the trace in the caller's `traceparent`, if any.
 * Source: OpenTelemetry's semantic conventions for HTTP servers, and W3C Trace Context.
 */
export function traceRequests(fastify: FastifyInstance, tracer: Tracer): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    if (isProbe(route)) {
      done();
      return;
    }
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const method = METHODS.has(request.method) ? request.method : OTHER;
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(request, method, route) };
    const name = `${method === OTHER ? 'HTTP' : method}${route === undefined ? '' : ` ${route}`}`;
    const span = tracer.startSpan(name, options, parent);
    request.traceId = span.spanContext().traceId;
    // Emitted whether the response was sent completely or the caller disconnected.
    reply.raw.once('close', () => finish(span, reply));
    context.with(trace.setSpan(parent, span), done);
  });
}

/** Load balancers check readiness every second; those spans would hide all others. */
function isProbe(route: string | undefined): boolean {
  return route?.startsWith('/health/') ?? false;
}

function attributesOf(request: FastifyRequest, method: string, route: string | undefined): Attributes {
  return {
    [ATTR_HTTP_REQUEST_METHOD]: method,
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
