import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Aggregator,
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
  collectDefaultMetrics,
} from 'prom-client';
import { inBackground } from '#libs/background';
import { Database } from '#libs/database';
import {
  AccountedRequest,
  AccountedResponse,
  ApiError,
  Connections,
  JSON_TYPE,
  MethodNotAllowedError,
  RouteNotFoundError,
  assertReadable,
} from '#libs/http';
import { FEATURES } from '../features';
import { Readiness } from '../http/health';
import type { Settings } from '../settings/settings';
import { METRICS_ADDRESS, explainAddress } from './failures';
import { lostLogLines } from './logging';

/** Milliseconds that a worker process has for all its metrics. */
const ANSWER_MS = 1_750;
const ASK = 'metrics';
const MAX_CONNECTIONS = 100;

const MISSING_WORKERS = {
  name: 'petstore_workers_missing',
  help: 'Workers that should run but do not answer. The gauges leave out the values of these workers.',
};

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(app: NestFastifyApplication, connections: Connections): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  if (cluster.isWorker) {
    process.on('message', (message) => {
      if (message === ASK) {
        const sent = registry.getMetricsAsJSON().then((metrics) => process.send?.(metrics));
        inBackground('Sending metrics', sent);
      }
    });
  } else {
    new Gauge({ ...MISSING_WORKERS, registers }).set(0);
  }
  measureState(app, connections, registers);
  measureRequests(app, registers);
  FEATURES.forEach(({ metrics }) => metrics?.(app, registers));
  return registry;
}

function measureState(app: NestFastifyApplication, connections: Connections, registers: Registry[]): void {
  const [database, readiness] = [app.get(Database), app.get(Readiness)];
  const gauge = (
    name: string,
    help: string,
    read: () => number | Promise<number>,
    aggregator: Aggregator = 'sum',
  ) =>
    new Gauge({
      ...{ name, help, aggregator, registers },
      async collect() {
        this.set(await read());
      },
    });
  gauge('petstore_http_connections', 'Open connections of callers.', () => connections.open);
  new Counter({
    name: 'petstore_http_connections_refused_total',
    help: 'Connections that were closed because of a limit: for memory, for the connections of one address, or for all connections.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      Object.entries(connections.refused).forEach(([reason, count]) => this.inc({ reason }, count));
    },
  });
  const isReady = async () => Number((await readiness.reason()) === undefined);
  gauge('petstore_ready', 'Whether /health/ready is 200 (1) or not (0).', isReady, 'min');
  const memory = Math.min(process.constrainedMemory() || Infinity, totalmem());
  const ofMemory = 'The memory that the service may use: that of the container, or of the machine.';
  gauge('petstore_memory_limit_bytes', ofMemory, () => memory, 'max');
  const ofWaiting = 'Operations waiting for a database connection.';
  gauge('petstore_database_pool_waiting_requests', ofWaiting, () => database.poolUse.waiting);
  new Gauge({
    name: 'petstore_database_pool_connections',
    help: 'Database connections, by whether they are in use (busy) or not (idle).',
    labelNames: ['state'],
    registers,
    collect() {
      const { busy, idle } = database.poolUse;
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Counter({
    name: 'petstore_log_lines_lost_total',
    help: 'Log lines that were dropped because nothing read the log.',
    registers,
    collect() {
      this.reset();
      this.inc(lostLogLines());
    },
  });
}

function measureRequests(app: NestFastifyApplication, registers: Registry[]): void {
  const durations = new Histogram({
    name: 'petstore_http_request_duration_seconds',
    help: 'Time from the last byte of the request to the end of the response, without the wait of a request for events, by operation (route pattern), method and status.',
    labelNames: ['operation', 'method', 'status'],
    buckets: LATENCY_SECONDS,
    registers,
  });
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onResponse', (request, reply, done) => {
    // Use one label for all unknown paths, because callers can invent any number of paths, and each label takes memory.
    const operation = request.routeOptions.url ?? 'unknown';
    const labels = { operation, method: request.method, status: reply.statusCode };
    durations.observe(labels, durationOf(request, reply) / 1000);
    done();
  });
}

/**
 * Returns the milliseconds from the last byte of the request to the end of the response. The time before the last byte does
 * not count, because a caller that sends slowly would make the service look slow. The time for which a long poll waited for
 * events (`waitedMs`) does not count either. The duration is 0 if the last byte never arrived.
 */
function durationOf({ raw, waitedMs = 0 }: FastifyRequest, { elapsedTime }: FastifyReply): number {
  const { arrivedAt = Infinity } = raw as AccountedRequest;
  const sinceArrival = Math.max(0, performance.now() - arrivedAt);
  // Take the shorter of two times. `elapsedTime` begins when it is the turn of the request, so it leaves out the time
  // that a pipelined request has waited for earlier responses. `sinceArrival` leaves out the time in which the request
  // arrived.
  return Math.min(elapsedTime, sinceArrival) - waitedMs;
}

export async function serveMetrics(address: Settings['metrics'], read: () => Promise<string>): Promise<void> {
  if (address === null) {
    return;
  }
  const scrape = async (request: IncomingMessage): Promise<string> => {
    assertReadable(request);
    if (request.url?.split('?')[0] !== '/metrics') throw new RouteNotFoundError();
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new MethodNotAllowedError('GET, HEAD');
    return read();
  };
  const answer: RequestListener = (request, response) => {
    scrape(request).then(
      (metrics) => response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE).end(metrics),
      (error: unknown) => {
        if (error instanceof ApiError) {
          const body = JSON.stringify(error.toBody());
          const headers = { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) };
          response.writeHead(error.status, { ...headers, ...error.headers }).end(body);
        } else {
          new Logger('Metrics').error(`A scrape failed: ${String(error)}`);
          response.writeHead(500).end();
        }
      },
    );
  };
  const server = createServer({
    IncomingMessage: AccountedRequest,
    ServerResponse: AccountedResponse,
    requireHostHeader: false,
  });
  new Connections(server, { handle: answer });
  server.maxConnections = MAX_CONNECTIONS;
  await explainAddress(METRICS_ADDRESS, address, () => once(server.unref().listen(address), 'listening'));
  const { address: host, port } = server.address() as AddressInfo;
  new Logger('Metrics').log(`Listening on ${host} port ${port} (METRICS_PORT).`);
}

/**
 * The latest counters of each worker process. The counters of a worker process that has ended stay in the sum, because
 * a total must not decrease.
 */
const counted = new Map<number, MetricObject[]>();
/** The key of the sum of the counters of all worker processes that have ended. No worker process has this id. */
const ENDED = 0;

/** The running call of `sumOfMetrics`, whose result is the text for Prometheus. Undefined while no call is running. */
let runningSum: Promise<string> | undefined;

/**
 * Returns the sum of the metrics of all worker processes. For a worker that does not respond, the latest counters are used.
 * Scrapes that overlap share one sum. A sum reads the stored counters of ended worker processes (ENDED), adds those of workers
 * that have ended meanwhile, and stores the result. Two sums at once would overwrite each other's result.
 */
export function metricsOf(workers: Worker[], expected: number): Promise<string> {
  runningSum ??= sumOfMetrics(workers, expected).finally(() => (runningSum = undefined));
  return runningSum;
}

async function sumOfMetrics(workers: Worker[], expected: number): Promise<string> {
  const answers = new Map<number, MetricObject[]>();
  await Promise.allSettled(workers.map(async (worker) => answers.set(worker.id, await metricsOfOne(worker))));
  const isCount = ({ type }: MetricObject) => ['counter', 'histogram'].includes(String(type));
  answers.forEach((metrics, id) => counted.set(id, metrics.filter(isCount)));
  // Replace the counters of the worker processes that have ended by the sum of these counters.
  const ended = [...counted].filter(([id]) => !workers.some((worker) => worker.id === id));
  const countedByEnded = AggregatorRegistry.aggregate(ended.map(([, counts]) => counts));
  counted.set(ENDED, await countedByEnded.getMetricsAsJSON());
  ended.filter(([id]) => id !== ENDED).forEach(([id]) => counted.delete(id));
  const others = [...counted].filter(([id]) => !answers.has(id)).map(([, counts]) => counts);
  const registry = AggregatorRegistry.aggregate([...answers.values(), ...others]);
  new Gauge({ ...MISSING_WORKERS, registers: [registry] }).set(expected - answers.size);
  return registry.metrics();
}

async function metricsOfOne(worker: Worker): Promise<MetricObject[]> {
  worker.send(ASK, () => undefined);
  const signal = AbortSignal.timeout(ANSWER_MS);
  const [metrics] = (await once(worker, 'message', { signal })) as [MetricObject[]];
  return metrics;
}
