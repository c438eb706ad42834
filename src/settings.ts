import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { readDatabaseUrl } from './runtime/database-url';
import {
  type Environment,
  EnvironmentError,
  EnvironmentReader,
  decodeText,
  isWellFormedUrl,
} from './runtime/environment';

export interface Settings {
  host: string;
  port: number;
  /** Absent: an embedded PostgreSQL in `dataDirectory`. */
  databaseUrl: string | undefined;
  dataDirectory: string;
  databasePool: number;
  /** Absent: limits are counted in this process alone. Several nodes of a cluster are separated by commas. */
  redisUrl: string | undefined;
  /** How many instances share the limits. Determines the share of each while Redis is unavailable. */
  instances: number;
  /** Addresses and networks of the proxies whose forwarding header fields are trusted. */
  trustProxy: string[];
  corsOrigins: string[];
  /** Where metrics are served; absent: disabled. */
  metrics: { host: string; port: number } | undefined;
  logLevel: LogLevel;
  afterSunset: 'serve' | 'gone';
  /** Networks and addresses that webhooks may call although they are not public. */
  webhookNetworks: string[];
  /** Encrypts the secrets of webhooks. Absent: the one in `dataDirectory` with an embedded PostgreSQL, else none. */
  webhookKey: Buffer | undefined;
  /** How long the service continues after the signal to stop, while `/health/ready` reports that it is not ready. */
  shutdownDelaySeconds: number;
  /** Processes that share the port. More than one need `redisUrl`. */
  workers: number;
  /** Where traces are sent, by OTLP over HTTP; absent: tracing is off. */
  tracesUrl: string | undefined;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const PORTS = { min: 0, max: 65_535 };
const MAX_WORKERS = 256;
export const WEBHOOK_KEY_BYTES = 32;

/**
 * Reads and checks the environment.
 * @throws EnvironmentError whose one-line message names the variable and its valid values
 */
export function readSettings(environment: Environment): Settings {
  const reader = new EnvironmentReader(withSecrets(environment));
  const settings = readAll(reader);
  if (settings.port !== 0 && settings.metrics?.port === settings.port) {
    throw new EnvironmentError('METRICS_PORT', 'another port than PORT', String(settings.port));
  }
  return settings;
}

/** The variables that operators set. */
export function settingNames(): ReadonlySet<string> {
  const reader = new EnvironmentReader({});
  readAll(reader);
  return new Set([...reader.names, ...SECRETS.map((name) => `${name}_FILE`)]);
}

/** Variables that may be in a file, as container platforms mount secrets: `DATABASE_URL_FILE` names it. */
const SECRETS = ['DATABASE_URL', 'REDIS_URL', 'WEBHOOK_KEY'] as const;

function withSecrets(environment: Environment): Environment {
  const reader = new EnvironmentReader(environment);
  const inFiles = SECRETS.flatMap((name) => {
    const file = reader.path(`${name}_FILE`);
    if (file !== undefined && reader.text(name) !== undefined) {
      throw new EnvironmentError(`${name}_FILE`, `a file only without ${name}`, file);
    }
    return file === undefined ? [] : [[name, readSecret(`${name}_FILE`, file)]];
  });
  return { ...environment, ...(Object.fromEntries(inFiles) as Environment) };
}

function readSecret(variable: string, file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new EnvironmentError(variable, 'a file that can be read', file);
  }
  const text = decodeText(bytes)?.trim();
  if (text === undefined) {
    throw new EnvironmentError(variable, 'a file with text in UTF-8', file);
  }
  // Whoever names a file wants the secret: without it, the service would run on a database or key of its own.
  if (text === '') {
    throw new EnvironmentError(variable, 'a file that is not empty', file);
  }
  return text;
}

function readAll(reader: EnvironmentReader): Settings {
  return {
    host: reader.text('HOST', '127.0.0.1'),
    port: reader.integer('PORT', 3000, PORTS),
    databaseUrl: readDatabaseUrl(reader, 'DATABASE_URL'),
    dataDirectory: reader.path('DATA_DIR') ?? '.petstore',
    databasePool: reader.integer('DATABASE_POOL', 10, { min: 2, max: 1_000 }),
    redisUrl: readRedisUrl(reader),
    instances: reader.integer('INSTANCES', 1, { min: 1, max: 10_000 }),
    trustProxy: reader.list('TRUST_PROXY', 'addresses or networks of proxies, such as 10.0.0.0/8', isNetwork),
    corsOrigins: readOrigins(reader),
    metrics: readMetricsAddress(reader),
    logLevel: reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    afterSunset: reader.oneOf('AFTER_SUNSET', ['serve', 'gone'] as const, 'serve'),
    webhookNetworks: reader.list('WEBHOOK_NETWORKS', 'networks or addresses, such as 10.0.0.0/8', isNetwork),
    webhookKey: readWebhookKey(reader),
    shutdownDelaySeconds: reader.integer('SHUTDOWN_DELAY', 0, { min: 0, max: 300 }),
    workers:
      reader.text('WORKERS') === 'auto'
        ? usableCores()
        : reader.integer('WORKERS', 1, { min: 1, max: MAX_WORKERS }, ', or auto'),
    tracesUrl: reader.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
  };
}

/** Where Linux reports the CPU limit of a container (control groups, version 2). */
const CPU_MAX = '/sys/fs/cgroup/cpu.max';

/**
 * Cores that this process may use: those of the machine, or fewer in a container with a CPU limit; at least 1.
 * @param cores the cores of the machine
 * @param limit the text of `cpu.max`: microseconds of CPU time (or `max`) in a period of microseconds
 */
export function usableCores(cores = availableParallelism(), limit = readLimit()): number {
  const [time = 'max', period = ''] = limit.trim().split(' ');
  const limited = time === 'max' ? Infinity : Math.floor(Number(time) / Number(period));
  return Math.max(1, Math.min(cores, limited || 1));
}

function readLimit(): string {
  try {
    return readFileSync(CPU_MAX, 'utf8');
  } catch {
    return 'max';
  }
}

/** What ioredis would make nothing of, it would ignore, or fail with at each connection. */
const REDIS_URL = /^rediss?:\/\/[^/?#]+(\/\d*)?(\?commandTimeout=[1-9]\d*)?$/;

function readRedisUrl(reader: EnvironmentReader): string | undefined {
  const urls = reader
    .text('REDIS_URL')
    ?.split(',')
    .map((url) => url.trim());
  if (urls?.every((url) => REDIS_URL.test(url) && isWellFormedUrl(url)) === false) {
    // The value is omitted: it may contain a password.
    const expected =
      'redis:// or rediss:// URLs, separated by commas for a cluster, with no path but the number of a database';
    throw new EnvironmentError('REDIS_URL', expected, '…');
  }
  if (urls && urls.length > 1 && urls.some((url) => /[1-9]/.test(new URL(url).pathname))) {
    throw new EnvironmentError(
      'REDIS_URL',
      'several URLs without a database, because a cluster has only one',
      '…',
    );
  }
  return urls?.join(',');
}

function readOrigins(reader: EnvironmentReader): string[] {
  const origins = reader.list('CORS_ORIGINS', '* or origins such as https://shop.example', (origin) => {
    return origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin);
  });
  if (origins.length > 1 && origins.includes('*')) {
    throw new EnvironmentError('CORS_ORIGINS', '* alone, or origins without it', origins.join(','));
  }
  return origins.length === 0 ? ['*'] : origins;
}

/** A port on the loopback address, another address with a port, or `off`. */
function readMetricsAddress(reader: EnvironmentReader): Settings['metrics'] {
  const text = reader.text('METRICS_PORT', '9464');
  if (text === 'off') {
    return undefined;
  }
  const [, host = '127.0.0.1', port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > PORTS.max) {
    throw new EnvironmentError('METRICS_PORT', 'a port, an address with a port (0.0.0.0:9464), or off', text);
  }
  // An IPv6 address is in brackets if a port follows.
  return { host: host.replace(/^\[(.+)\]$/, '$1'), port: Number(port) };
}

/** The message omits the value. */
function readWebhookKey(reader: EnvironmentReader): Buffer | undefined {
  const text = reader.text('WEBHOOK_KEY');
  const key = text === undefined ? undefined : Buffer.from(text, 'base64');
  if (key !== undefined && (key.length !== WEBHOOK_KEY_BYTES || key.toString('base64') !== text)) {
    throw new EnvironmentError('WEBHOOK_KEY', '32 random bytes in base64 (openssl rand -base64 32)', '…');
  }
  return key;
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const hasPrefix = prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && hasPrefix && rest.length === 0;
}

/** Injection token of the Settings. */
export const SETTINGS = Symbol('settings');
