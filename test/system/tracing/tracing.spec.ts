import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { insertUnlimitedKey } from '../../support/test-database';
import { until } from '../../support/eventually';
import { listen } from '../../support/ports';
import { useRedis } from '../../support/redis-server';
import { type ServiceProcess, useProcesses } from '../../support/service-process';

const SERVER = 2;
const CLIENT = 3;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SECRET = 'hunter2';

/** The value of an attribute in OTLP, under the name of its type, such as `stringValue`. */
interface Described {
  attributes: { key: string; value: object }[];
}

interface Span extends Described {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
}

/** The body of a request of OTLP over HTTP, in JSON. */
interface ExportRequest {
  resourceSpans: { resource: Described; scopeSpans: { spans: Span[] }[] }[];
}

const byName = ({ attributes }: Described) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]));

/** The requests to the collector, as texts and as values. */
let received = '';
let resource: Record<string, unknown>;
const spans: (Omit<Span, 'attributes'> & { attributes: Record<string, unknown> })[] = [];
let collectorPort: number;
const collector = createServer((request, answer) => {
  void text(request).then((body) => {
    received += body;
    for (const sent of (JSON.parse(body) as ExportRequest).resourceSpans) {
      resource = byName(sent.resource);
      for (const span of sent.scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: byName(span) });
      }
    }
    answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
});

const { processes, database } = useProcesses();
const redis = useRedis();
let key: string;
let service: ServiceProcess;

/** The service is a process of its own, because drivers are traced when Node loads them, and Jest loads modules itself. */
async function serve(environment: Record<string, string>): Promise<void> {
  service = await processes.serve({ DATABASE_URL: database.url, LOG_LEVEL: 'info', ...environment });
}

beforeAll(async () => {
  collectorPort = await listen(collector);
  key = await insertUnlimitedKey(database.url);
  await database.pool.query('INSERT INTO categories (name) VALUES ($1)', [SECRET]);
});
afterAll(() => collector.close().closeAllConnections());

async function send(target: string, headers: Record<string, string> = {}): Promise<Response> {
  const answer = await service.send(key, 'GET', target, undefined, headers);
  await answer.text();
  return answer;
}

test('With a collector each request is a span of the trace of its caller, with its statements, and without a query, a key or a value', async () => {
  const span = (name: string) => {
    const found = spans.filter((one) => one.kind === SERVER && one.name === name);
    expect(found).toHaveLength(1);
    return found[0]!;
  };
  await serve({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    REDIS_URL: redis.url,
  });
  await service.untilShared();
  await send('/categories?limit=5', { traceparent: `00-${TRACE}-${PARENT}-01` });
  await send('/nowhere/at-all?what=ever');
  await send(`/pets/${key}?key=${key}`, { Authorization: `Bearer ${key}` });
  await fetch(`${service.url}/health/ready`);
  await database.pool
    .query(`CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM NEW.name::int; END';
    CREATE TRIGGER odd BEFORE INSERT ON categories FOR EACH ROW EXECUTE FUNCTION odd()`);
  expect((await service.send(key, 'POST', '/categories', { name: SECRET })).status).toBe(500);
  await database.pool.query('DROP FUNCTION odd CASCADE');
  // The service sends the remaining spans when it stops.
  expect(await service.end()).toEqual({ code: 0, signal: null });

  const known = span('GET /categories');
  expect(known).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/categories',
      'http.response.status_code': 200,
      'url.path': '/categories',
      'url.scheme': 'http',
    },
  });
  const { attributes } = span('GET');
  expect(attributes).toMatchObject({ 'url.path': '/nowhere/at-all', 'http.response.status_code': 404 });
  expect(attributes).not.toHaveProperty('http.route');
  // Only requests start a trace, except for health checks.
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(roots.map(({ name }) => name).sort()).toEqual(['GET', 'GET /pets/:petId', 'POST /categories']);

  const children = spans.filter((one) => one.kind === CLIENT && one.parentSpanId === known.spanId);
  const systems = children.map((one) => one.attributes['db.system.name']);
  expect(new Set(systems)).toEqual(new Set(['postgresql', 'redis']));
  const texts = children.map((one) => String(one.attributes['db.query.text']));
  expect(texts.join()).toContain('FROM categories');
  const lines = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toContainEqual(expect.objectContaining({ operation: '/categories', traceId: TRACE }));

  expect(resource).toMatchObject({ 'service.name': 'petstore', 'deployment.environment.name': 'test' });
  expect(received).toContain('/pets/psk_live_…');
  expect(received).not.toContain(key.slice('psk_live_'.length));
  expect(received).toContain('22P02');
  expect(received).not.toContain(SECRET);
});

test('Invalid variables and an unavailable collector are reported in one line each; it delays neither requests nor the shutdown', async () => {
  // The pause before the next attempt is longer than any timeout, so the service reports the first failure.
  const away = createServer((_request, answer) => answer.writeHead(503, { 'Retry-After': '3600' }).end());
  await serve({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(away)}`,
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
    OTEL_TRACES_SAMPLER: 'allways_off',
    OTEL_PROPAGATORS: 'b3',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_TRACES_EXPORTER: '',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  for (let sent = 0; sent < 20; sent += 1) {
    expect((await send('/categories')).status).toBe(200);
  }
  const messages = () => service.lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  await until(() => messages().some((message) => message.startsWith('Traces cannot be sent')));
  await send('/categories');
  expect(await service.end()).toEqual({ code: 0, signal: null });
  expect(messages().filter((message) => message.startsWith('Traces'))).toEqual([
    expect.stringMatching(
      /^Traces: these variables have no effect: OTEL_PROPAGATORS, OTEL_EXPORTER_OTLP_PROTOCOL \(see/,
    ),
    expect.stringContaining("Unknown value 'many' for OTEL_BSP_MAX_QUEUE_SIZE"),
    expect.stringContaining('OTEL_TRACES_SAMPLER value "allways_off" invalid'),
    'Traces cannot be sent: Export failed with retryable status',
  ]);
  expect(service.stderr).toBe('');
  away.close().closeAllConnections();
});
