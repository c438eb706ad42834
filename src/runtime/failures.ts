import {
  MigrationLockError,
  UnsuitableDatabaseError,
  isDatabaseUnavailable,
  loggableError,
} from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { ApiError } from '#libs/http';
import { DEFECT, type Failure, StartError } from '#libs/messages';

/** Thrown if the service could not start because of a worker process, which has already reported the reason. */
export class ReportedStartError extends Error {}

/** Errors of this project's libraries (`libs`) that an operator can act on, each with the code to report. */
const OF_LIBRARIES: readonly [kind: abstract new (...details: never[]) => Error, code: string][] = [
  [EmbeddedPostgresError, 'database_unavailable'],
  [MigrationLockError, 'database_locked'],
  [UnsuitableDatabaseError, 'database_unsuitable'],
];

/** PostgreSQL's error codes for wrong access data, such as a rejected password or an unknown database. */
const REFUSED_CODE = /^(28...|3D000|3F000|42P01|42501)$/;
/** PostgreSQL's error codes for mistakes in the `options` of the URL. */
const REFUSED_OPTION_CODE = /^(42704|22023|42601)$/;
/** PostgreSQL's error codes for a database that can be reached but cannot do the work, such as a full disk. */
const UNABLE_CODE = /^(53100|53200|57014|25006)$/;
/** Error messages of failures of TLS or of a login, which have no reliable code. */
const REFUSED_TEXT = /^The server does not support SSL|^SASL.+ must be a .*string$|certificate/;

/** Returns the code and the message with which an error is reported to the operator. */
export function explain(error: unknown): Failure {
  if (error instanceof ApiError) {
    return { code: error.code, message: error.message };
  }
  const [, code] = OF_LIBRARIES.find(([kind]) => error instanceof kind) ?? [];
  if (code !== undefined) {
    return { code, message: (error as Error).message };
  }
  const { message, stack = message } = loggableError(error);
  return explainDatabase(error) ?? { code: DEFECT, message: stack };
}

function explainDatabase(error: unknown): Failure | undefined {
  const fields = (error ?? {}) as Record<'code' | 'message' | 'severity', unknown>;
  const [code, message] = [String(fields.code), String(fields.message)];
  // The severity FATAL shows that the connection was still starting. These codes then mean that the `options` in the URL are
  // wrong.
  const isOption = fields.severity === 'FATAL' && REFUSED_OPTION_CODE.test(code);
  if (isOption || REFUSED_CODE.test(code) || REFUSED_TEXT.test(message)) {
    const reason = message.replace(/^SASL.+/, 'it asks for a password, and the URL has none');
    return { code: 'database_refused', message: `The database of DATABASE_URL cannot be used: ${reason}.` };
  }
  if (!isDatabaseUnavailable(error)) {
    return undefined;
  }
  const outcome = UNABLE_CODE.test(code)
    ? 'could not complete the request'
    : 'of DATABASE_URL cannot be reached';
  return { code: 'database_unavailable', message: `The database ${outcome}: ${message.trim() || code}.` };
}

/** The environment variables with an address and its port, and the remedy if another process uses the port. */
export type AddressVariables = Record<'host' | 'port' | 'ifInUse', string>;

export const SERVICE_ADDRESS: AddressVariables = {
  host: 'HOST',
  port: 'PORT',
  ifInUse: 'set PORT to another port, and for a second store DATA_DIR and METRICS_PORT as well',
};
export const METRICS_ADDRESS: AddressVariables = {
  host: 'METRICS_PORT',
  port: 'METRICS_PORT',
  ifInUse: 'set METRICS_PORT to another port, or to off for no metrics',
};

const ADDRESS_CALLS = ['listen', 'getaddrinfo'];

/**
 * Runs `open`, which looks up an address or listens on it.
 * @throws StartError that names the environment variables with the address, if `open` fails because of the address
 */
export async function explainAddress<Opened>(
  variables: AddressVariables,
  { host, port }: { host: string; port: number },
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    // Throw the error of any other system call unchanged, because its reason has nothing to do with the address.
    if (!ADDRESS_CALLS.includes(syscall ?? '')) {
      throw error;
    }
    const reasons: Record<string, string> = {
      EADDRINUSE: `the port is in use by another process; ${variables.ifInUse}`,
      EACCES: `this user may not use ports below 1024; set ${variables.port} to a port above 1023`,
    };
    const reason = reasons[code!] ?? `${message}; set ${variables.host} to an address of this machine`;
    const names = [...new Set([variables.host, variables.port])].join(' and ');
    throw new StartError(`${host} port ${port} (${names}) cannot be listened on: ${reason}.`);
  }
}
