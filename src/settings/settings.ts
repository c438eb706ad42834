import { availableParallelism } from 'node:os';
import { databaseUrl } from './database-url';
import {
  type Environment,
  EnvironmentError,
  type Reader,
  type Values,
  integer,
  listOf,
  isWellFormedUrl,
  networks,
  oneOf,
  path,
  readerFor,
  textIn,
  variable,
} from './environment';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_PORT = 65_535;
/** Ports above 1023 that browsers and Node's `fetch` refuse to call. */
const REFUSED_PORTS = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);
const MAX_WORKERS = 256;
/** True for an origin that browsers or the web views of packaged apps send, for example `capacitor://localhost`. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { protocol, host } = new URL(text);
  return text === `${protocol}//${host}`;
}

const listOfOrigins = listOf(
  '* alone, or origins such as https://shop.example or capacitor://localhost, without patterns',
  isOrigin,
);
const origins: Reader<string[]> = (text, variable) => (text === '*' ? ['*'] : listOfOrigins(text, variable));

const servicePort: Reader<number> = (text, variable) => {
  const port = integer(0, MAX_PORT)(text, variable);
  if (REFUSED_PORTS.has(port)) {
    throw new EnvironmentError(variable, 'a port that browsers do not refuse, such as 3000 or 8080', text);
  }
  return port;
};

const plainHost = (host: string): string => host.replace(/^\[(.+)\]$/, '$1');

const metricsAddress = readerFor('a port, an address with a port (0.0.0.0:9464), or off', (text) => {
  if (text === 'off') {
    return null;
  }
  const [, host = '127.0.0.1', port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const address = { host: plainHost(host), port: Number(port) };
  return port !== '' && address.port <= MAX_PORT ? address : undefined;
});

const tracesUrl = readerFor(
  'a URL that starts with http:// or https:// and has special characters percent-encoded (%25 for %)',
  (text) => (/^https?:\/\//.test(text) && isWellFormedUrl(text) ? text : undefined),
  '…',
);

const ENDPOINT = variable('OTEL_EXPORTER_OTLP_ENDPOINT', tracesUrl, undefined);
/** OpenTelemetry's variable for traces alone, which takes precedence over that for all signals. */
const TRACES_ENDPOINT = variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', tracesUrl, undefined);

function tracesUrlIn(environment: Environment): string | undefined {
  const ofAllSignals = ENDPOINT.valueIn(environment);
  const ofTraces = TRACES_ENDPOINT.valueIn(environment);
  return isTracingOff(environment) ? undefined : (ofTraces ?? ofAllSignals);
}

function isTracingOff(environment: Environment): boolean {
  const isDisabled = textIn(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return isDisabled || textIn(environment, 'OTEL_TRACES_EXPORTER') === 'none';
}

const workerCount: Reader<number> = (text, variable) =>
  text === 'auto' ? availableParallelism() : integer(1, MAX_WORKERS, ', or auto')(text, variable);

export const COMMON_VARIABLES = {
  host: variable('HOST', plainHost, '127.0.0.1'),
  port: variable('PORT', servicePort, 3000),
  /** If undefined, the service uses an embedded PostgreSQL in `dataDirectory`. */
  databaseUrl: variable('DATABASE_URL', databaseUrl, undefined, { secret: true }),
  dataDirectory: variable('DATA_DIR', path, '.petstore'),
  databasePool: variable('DATABASE_POOL', integer(2, 1_000), 10),
  trustProxy: variable('TRUST_PROXY', networks, []),
  corsOrigins: variable('CORS_ORIGINS', origins, ['*']),
  metrics: variable('METRICS_PORT', metricsAddress, { host: '127.0.0.1', port: 9464 }),
  logLevel: variable('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
  shutdownDelaySeconds: variable('SHUTDOWN_DELAY', integer(0, 300), 0),
  workers: variable('WORKERS', workerCount, 1),
  /** Where traces are sent (OTLP over HTTP). If undefined, there is no tracing. */
  tracesUrl: { names: ENDPOINT.names, valueIn: tracesUrlIn },
};

export type Settings = Values<typeof COMMON_VARIABLES>;

/**
 * Injects how many sockets the process may open to other servers, such as the receivers of webhooks. Infinity if the
 * number of file descriptors has no limit. Only one feature may inject this number, because two features that use all
 * of these sockets would open twice as many.
 */
export const OUTGOING_SOCKETS = Symbol('OUTGOING_SOCKETS');

export const SETTINGS = Symbol('settings');
