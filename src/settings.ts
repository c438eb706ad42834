import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { databaseUrl } from './runtime/database-url';
import {
  type Environment,
  EnvironmentError,
  type Reader,
  entriesOf,
  integer,
  isWellFormedUrl,
  oneOf,
  path,
  secretIn,
  taking,
  textIn,
} from './runtime/environment';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_PORT = 65_535;
/** The ports above 1023 that browsers and Node's `fetch` refuse ("bad port" in the Fetch standard). */
const REFUSED_PORTS = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);
const MAX_WORKERS = 256;
export const WEBHOOK_KEY_BYTES = 32;

/**
 * The URLs that ioredis understands completely. ioredis would ignore any other part of a URL, or fail because of it at each
 * connection.
 */
const REDIS_URL = /^rediss?:\/\/[^/?#]+(\/\d*)?(\?commandTimeout=[1-9]\d*)?$/;
const REDIS_URLS =
  'a redis:// or rediss:// URL with no path but the number of a database, or several without it, separated by commas';

const redisUrl = taking(
  REDIS_URLS,
  (text) => {
    const urls = text.split(',').map((one) => one.trim());
    // The nodes of a Redis cluster have one database only, so several URLs must not name a database.
    const isNode = (one: string) => urls.length === 1 || !/[1-9]/.test(new URL(one).pathname);
    const areUrls = urls.every((one) => REDIS_URL.test(one) && isWellFormedUrl(one) && isNode(one));
    return areUrls ? urls.join(',') : undefined;
  },
  '…',
);

/** True for an origin in the form that browsers and the web views of packaged apps (`capacitor://localhost`) send. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { protocol, host } = new URL(text);
  return text === `${protocol}//${host}`;
}

const origins = taking(
  '* alone, or origins such as https://shop.example or capacitor://localhost, without patterns',
  (text) => {
    const entries = entriesOf(text);
    return text === '*' || entries.every(isOrigin) ? entries : undefined;
  },
);

const servicePort: Reader<number> = (text, variable) => {
  const port = integer(0, MAX_PORT)(text, variable);
  if (REFUSED_PORTS.has(port)) {
    throw new EnvironmentError(variable, 'a port that browsers do not refuse, such as 3000 or 8080', text);
  }
  return port;
};

/** Removes the brackets around an IPv6 address. */
const plainHost = (host: string): string => host.replace(/^\[(.+)\]$/, '$1');

const metricsAddress = taking('a port, an address with a port (0.0.0.0:9464), or off', (text) => {
  if (text === 'off') {
    return null;
  }
  const [, host = '127.0.0.1', port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const address = { host: plainHost(host), port: Number(port) };
  return port !== '' && address.port <= MAX_PORT ? address : undefined;
});

const webhookKey = taking(
  '32 random bytes in base64 (openssl rand -base64 32)',
  (text) => {
    const key = Buffer.from(text, 'base64');
    return key.length === WEBHOOK_KEY_BYTES && key.toString('base64') === text ? key : undefined;
  },
  '…',
);

const tracesUrl = taking(
  'a URL that starts with http:// or https:// and has special characters percent-encoded (%25 for %)',
  (text) => (/^https?:\/\//.test(text) && isWellFormedUrl(text) ? text : undefined),
  '…',
);

const workerCount: Reader<number> = (text, variable) =>
  text === 'auto' ? availableParallelism() : integer(1, MAX_WORKERS, ', or auto')(text, variable);

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const hasPrefix = prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && hasPrefix && rest.length === 0;
}

const networks = taking('addresses or networks, such as 10.0.0.0/8', (text) => {
  const entries = entriesOf(text);
  return entries.every(isNetwork) ? entries : undefined;
});

function variable<Value, Fallback extends Value | undefined>(
  name: string,
  read: Reader<Value>,
  fallback: Fallback,
  { secret = false } = {},
) {
  const valueIn = (environment: Environment): Value | Fallback => {
    const text = (secret ? secretIn : textIn)(environment, name);
    return text === undefined ? fallback : read(text, name);
  };
  return { names: secret ? [name, `${name}_FILE`] : [name], valueIn };
}

/** The environment variables of the settings. docs/operations/running.md explains the settings to operators. */
const VARIABLES = {
  host: variable('HOST', plainHost, '127.0.0.1'),
  port: variable('PORT', servicePort, 3000),
  /** If absent, the service uses an embedded PostgreSQL in `dataDirectory`. */
  databaseUrl: variable('DATABASE_URL', databaseUrl, undefined, { secret: true }),
  dataDirectory: variable('DATA_DIR', path, '.petstore'),
  databasePool: variable('DATABASE_POOL', integer(2, 1_000), 10),
  /**
   * If absent, this process counts the limits alone. The URLs of several nodes of a Redis cluster are separated by commas.
   */
  redisUrl: variable('REDIS_URL', redisUrl, undefined, { secret: true }),
  /**
   * How many instances share the limits. While Redis is unavailable, each instance allows an equal share of every limit.
   */
  instances: variable('INSTANCES', integer(1, 10_000), 1),
  trustProxy: variable('TRUST_PROXY', networks, []),
  corsOrigins: variable('CORS_ORIGINS', origins, ['*']),
  metrics: variable('METRICS_PORT', metricsAddress, { host: '127.0.0.1', port: 9464 }),
  logLevel: variable('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
  afterSunset: variable('AFTER_SUNSET', oneOf(['serve', 'gone']), 'serve'),
  webhookNetworks: variable('WEBHOOK_NETWORKS', networks, []),
  /**
   * Encrypts the secrets of webhooks. If absent, an embedded database has a key of its own in `dataDirectory`. With any
   * other database, webhooks then cannot be created.
   */
  webhookKey: variable('WEBHOOK_KEY', webhookKey, undefined, { secret: true }),
  shutdownDelaySeconds: variable('SHUTDOWN_DELAY', integer(0, 300), 0),
  workers: variable('WORKERS', workerCount, 1),
  /** Where traces are sent, by OTLP over HTTP. If absent, tracing is off. */
  tracesUrl: variable('OTEL_EXPORTER_OTLP_ENDPOINT', tracesUrl, undefined),
};

type Variables = typeof VARIABLES;
export type Settings = { [Name in keyof Variables]: ReturnType<Variables[Name]['valueIn']> };

/** @throws EnvironmentError with one line that names the invalid variable and its valid values */
export function readSettings(environment: Environment): Settings {
  const values = Object.entries(VARIABLES).map(([name, { valueIn }]) => [name, valueIn(environment)]);
  const settings = Object.fromEntries(values) as Settings;
  if (settings.port !== 0 && settings.metrics?.port === settings.port) {
    throw new EnvironmentError('METRICS_PORT', 'another port than PORT', String(settings.port));
  }
  return isTracingOff(environment) ? { ...settings, tracesUrl: undefined } : settings;
}

function isTracingOff(environment: Environment): boolean {
  const isDisabled = textIn(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return isDisabled || textIn(environment, 'OTEL_TRACES_EXPORTER') === 'none';
}

export function settingNames(): ReadonlySet<string> {
  return new Set(Object.values(VARIABLES).flatMap(({ names }) => names));
}

export const SETTINGS = Symbol('settings');
