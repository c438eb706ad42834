import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { OverloadedError } from './queue';

/** Codes of the errors that PostgreSQL and Node report; source: PostgreSQL, appendix A, and Node's `errors`. */
const CONNECTION_LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P04', // database_dropped
  '57P05', // idle_session_timeout: a connection of the pool was not used for longer than the role may
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '57014', // query_canceled: the statement exceeded its timeout
  '53100', // disk_full
  '53200', // out_of_memory
  '55P03', // lock_not_available: a row stayed locked beyond the timeout
  '25006', // read_only_sql_transaction: a primary that became a standby
  '55000', // object_not_in_prerequisite_state: the database accepts no connections
  '28000', // invalid_authorization_specification
  '28P01', // invalid_password: it was changed
  '3D000', // invalid_catalog_name: the database is being replaced
  '3F000', // invalid_schema_name: so is its schema
  '42P01', // undefined_table: so are its tables
  '42501', // insufficient_privilege: rights were revoked
]);

/** Node's codes of a certificate that was refused, and of TLS that failed otherwise. */
const TLS_FAILED = /CERT|^UNABLE_TO_VERIFY|^ERR_(SSL|TLS)_|^EPROTO$/;

/**
 * The driver reports these only by message. TypeORM releases a dead connection; later statements of the transaction
 * then fail because it was released.
 */
const CONNECTION_LOST_TEXT =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Driver not Connected|Cannot use a pool after calling end|Query runner already released|Database connection provided by a query runner was already released)/i;

interface ErrorFields {
  code?: unknown;
  syscall?: unknown;
  routine?: unknown;
  constraint?: unknown;
  message?: unknown;
  errors?: unknown;
}

/** The driver's error, which TypeORM wraps. */
function reportOf(error: unknown): unknown {
  return error instanceof QueryFailedError ? error.driverError : error;
}

function driverFieldsOf(error: unknown): ErrorFields {
  const source = reportOf(error);
  return typeof source === 'object' && source !== null ? source : {};
}

/** PostgreSQL's or Node's code of an error; '' if it has none. */
export function codeOf(error: unknown): string {
  const { code } = driverFieldsOf(error);
  return typeof code === 'string' ? code : '';
}

/** True if the database is unreachable, was lost, or lacks resources, or too many wait for it; a later attempt may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof OverloadedError) {
    return true;
  }
  const { message, errors, syscall } = driverFieldsOf(error);
  const code = codeOf(error);
  // A Unix socket may be missing (ENOENT), or have too many connections waiting (EAGAIN).
  if (CONNECTION_LOST.has(code) || code.startsWith('08') || TLS_FAILED.test(code) || syscall === 'connect') {
    return true;
  }
  // Node tries every address of a host name and reports the failures together.
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((inner) => isDatabaseUnavailable(inner));
  }
  return typeof message === 'string' && CONNECTION_LOST_TEXT.test(message);
}

/**
 * True if PostgreSQL itself rejected a statement, so its transaction had no effect. After any other failure the outcome
 * is unknown: a commit may have succeeded although its response was lost.
 */
export function isRefusedStatement(error: unknown): boolean {
  return (
    reportOf(error) instanceof DatabaseError && codeOf(error) !== '40003' && !isDatabaseUnavailable(error)
  );
}

/** True after a deadlock or a serialization failure; the transaction can be retried. */
export function isSerializationConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/**
 * True if the connection has lost a prepared statement, already has one of that name, or has one whose result column has
 * changed its type. The last is recognised by the function in the server's source: the code is too general, and the text
 * is translated.
 */
export function isUnusableStatement(error: unknown): boolean {
  const isOutdated = codeOf(error) === '0A000' && driverFieldsOf(error).routine === 'RevalidateCachedQuery';
  return isOutdated || ['26000', '42P05'].includes(codeOf(error));
}

/** True if this constraint refused a statement: a foreign key (in either direction), a unique one or a check. */
export function violates(error: unknown, constraint: string): boolean {
  return codeOf(error).startsWith('23') && driverFieldsOf(error).constraint === constraint;
}
