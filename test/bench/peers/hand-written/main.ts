import { randomUUID } from 'node:crypto';
import { type FastifyInstance, LogController, fastify } from 'fastify';
import { Pool, types } from 'pg';
import { Clients } from './clients';
import { Limits } from './limits';
import { addRoutes, fail } from './routes';
import { Store } from './store';

// The service's work on Fastify and pg alone, as somebody would write it who wants it to be fast.

const INT8 = 20;
const TIMESTAMPTZ = 1184;

const CONSTANT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Retry-After, X-Request-Id, ETag, Location, Link, Allow, Deprecation, Sunset, Idempotent-Replayed, WWW-Authenticate',
  'Cache-Control': 'private, no-cache',
};

function createServer(): FastifyInstance {
  return fastify({
    logger: { level: process.env.LOG_LEVEL, base: undefined },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers: { 'x-request-id': id } }) =>
      typeof id === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(id) ? id : randomUUID(),
    ajv: { customOptions: { removeAdditional: false } },
  });
}

/** One hook for all of it: who calls, within the limits, and with a key? */
function addGate(app: FastifyInstance, clients: Clients, limits: Limits): void {
  app.addHook('onRequest', (request, reply, done) => {
    const key = request.headers['x-api-key'];
    const client = typeof key === 'string' ? clients.holderOf(key) : undefined;
    const { retryAfter, headers } = limits.take(client, request.ip, Date.now());
    void reply.headers(CONSTANT_HEADERS).headers(headers).header('X-Request-Id', request.id);
    if (retryAfter > 0) {
      void reply.header('Retry-After', retryAfter);
      fail(reply, 429, 'rate_limit_exceeded', `The limit is reached. Try again in ${retryAfter} seconds.`);
    } else if (!client) {
      void reply.header('WWW-Authenticate', 'Bearer realm="petstore"');
      fail(reply, 401, 'invalid_api_key', 'Send a valid API key as X-API-Key.');
    } else {
      request.client = client;
      done();
    }
  });
}

/** One line for each request, as the service writes it. */
function addLog(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, log } = request;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    log.info({ method, operation: routeOptions.url, status: reply.statusCode, ms }, 'request');
    done();
  });
}

async function main(): Promise<void> {
  types.setTypeParser(INT8, Number);
  types.setTypeParser(TIMESTAMPTZ, (text) => new Date(text).toISOString());
  const pool = new Pool({
    connectionString: process.env.DATABASE_URL,
    max: Number(process.env.DATABASE_POOL),
  });
  const clients = await Clients.load(pool);
  const app = createServer();
  addLog(app);
  app.setErrorHandler(
    (error: { statusCode?: number; validation?: unknown; message: string }, request, reply) => {
      const { statusCode = 500, validation, message } = error;
      if (statusCode >= 500) {
        request.log.error(error);
      }
      const code = validation ? 'validation_failed' : statusCode < 500 ? 'bad_request' : 'internal_error';
      return fail(reply, statusCode, code, statusCode < 500 ? message : 'Something went wrong.');
    },
  );
  app.get('/health/live', () => ({ status: 'ok' }));
  void app.register((api, _options, done) => {
    const limits = new Limits();
    api.decorateRequest('client', undefined);
    addGate(api, clients, limits);
    addRoutes(api, new Store(pool), limits);
    done();
  });
  await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
}

void main();
