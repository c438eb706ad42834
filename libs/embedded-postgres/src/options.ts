import { resolve } from 'node:path';
import { EmbeddedPostgresError } from './errors';

/** What `startEmbeddedPostgres` is told. */
export interface EmbeddedPostgresOptions {
  /** The folder of everything, e.g. '/x/.petstore'; absolute or relative to the working directory. */
  dataDirectory: string;
  /** The name of the database, at most 63 bytes; created if absent. */
  database: string;
  /** More server settings, e.g. { fsync: 'off' }. They count only for a server which this call starts. */
  parameters?: Record<string, string>;
  /** Takes lines about what happens. They never hold the password. */
  log?: (line: string) => void;
  /**
   * Only as root: a folder of root's which everybody may enter, for the copy of the binaries and for data
   * which the server could not reach below `dataDirectory`. Default: /var/lib/embedded-postgres.
   */
  sharedDirectory?: string;
  /**
   * Starts the server again, on the same port, when it dies while this process uses it. For processes which
   * stay; one which only looks in leaves that to them. Default: false.
   */
  supervise?: boolean;
}

export interface CheckedOptions {
  dataDirectory: string;
  database: string;
  parameters: Record<string, string>;
  log: (line: string) => void;
  sharedDirectory: string | undefined;
  supervise: boolean;
}

/** Settings which say where the server listens and writes; another value would make it unreachable. */
const RESERVED = new Set([
  'config_file',
  'data_directory',
  'external_pid_file',
  'hba_file',
  'ident_file',
  'listen_addresses',
  'log_destination',
  'logging_collector',
  'port',
  'unix_socket_directories',
]);

/** @throws EmbeddedPostgresError for a name or a setting which cannot work */
export function checkOptions(options: EmbeddedPostgresOptions): CheckedOptions {
  const { dataDirectory, database, parameters = {}, log = () => undefined, sharedDirectory } = options;
  const { supervise = false } = options;
  if (!dataDirectory || dataDirectory.includes('\0')) {
    throw new EmbeddedPostgresError('the option dataDirectory must name a folder');
  }
  // PostgreSQL would cut a longer name and create a database which is then not found under its full name.
  if (!database || database.includes('\0') || Buffer.byteLength(database) > 63) {
    throw new EmbeddedPostgresError('the option database must be a name of 1 to 63 bytes');
  }
  for (const [name, value] of Object.entries(parameters)) checkParameter(name, value);
  return {
    dataDirectory: resolve(dataDirectory),
    database,
    parameters,
    log,
    sharedDirectory: sharedDirectory === undefined ? undefined : resolve(sharedDirectory),
    supervise,
  };
}

function checkParameter(name: string, value: string): void {
  if (!/^[a-z_][a-z0-9_.]*$/i.test(name) || /[\0\r\n]/.test(value)) {
    throw new EmbeddedPostgresError(`the server setting ${JSON.stringify(name)} is not a valid setting`);
  }
  if (RESERVED.has(name.toLowerCase())) {
    throw new EmbeddedPostgresError(`the server setting ${name} is chosen by the library; leave it out`);
  }
}

/**
 * Every setting of the server as `name=value`. Durability (fsync, synchronous_commit) stays at PostgreSQL's
 * defaults, which are on.
 *
 * @param port the TCP port on 127.0.0.1
 */
export function serverSettings(parameters: Record<string, string>, port: number): string[] {
  const settings: Record<string, string> = {
    max_connections: '100',
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    // Statements may hold what the application keeps secret, and they fill the log.
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...parameters,
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
    log_destination: 'stderr',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
  };
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`);
}
