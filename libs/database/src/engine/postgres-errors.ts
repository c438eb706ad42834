import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { OverloadedError } from './queue';

/** Node's codes of a connection that fails. */
const CONNECTION_FAILED =
  /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/**
 * PostgreSQL's codes, by class, of a connection that ends, a server without resources, a user or a database that is not accepted,
 * a statement that took too long (57014), a lock that was not given (55P03), a database that takes no connections (55000), a
 * primary that became a standby (25006), and schemas, tables and rights that were taken away. Source: PostgreSQL, appendix A.
 */
const UNAVAILABLE = /^(08|28|3D|3F|53|57|25P0[34]|55P03|55000|25006|42P01|42501)/;

/** Node's codes of a certificate that was refused, and of TLS that failed otherwise. */
const TLS_FAILED = /CERT|^UNABLE_TO_VERIFY|^ERR_(SSL|TLS)_|^EPROTO$/;

/**
 * The driver reports these only by message. TypeORM releases a dead connection; later statements of the transaction
 * then fail because it was released.
 */
const CONNECTION_LOST_TEXT =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Driver not Connected|Cannot use a pool after calling end|Query runner already released|Database connection provided by a query runner was already released)/i;

type ErrorFields = Partial<
  Record<'code' | 'syscall' | 'routine' | 'table' | 'constraint' | 'message' | 'errors', unknown>
>;

/** The driver's error, which TypeORM wraps. */
function reportOf(error: unknown): ErrorFields {
  const report: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof report === 'object' && report !== null ? report : {};
}

/** PostgreSQL's or Node's code of an error; '' if it has none. */
export function codeOf(error: unknown): string {
  const { code } = reportOf(error);
  return typeof code === 'string' ? code : '';
}

/** True if the database is unreachable, was lost, or lacks resources, or too many wait for it; a later attempt may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof OverloadedError) {
    return true;
  }
  const { message, errors, syscall } = reportOf(error);
  const code = codeOf(error);
  const isOutage = [CONNECTION_FAILED, UNAVAILABLE, TLS_FAILED].some((codes) => codes.test(code));
  // A Unix socket may be missing (ENOENT), or have too many connections waiting (EAGAIN).
  if (isOutage || syscall === 'connect') {
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
  const isOutdated = codeOf(error) === '0A000' && reportOf(error).routine === 'RevalidateCachedQuery';
  return isOutdated || ['26000', '42P05'].includes(codeOf(error));
}

/** True if this constraint refused a statement: a foreign key (in either direction), a unique one or a check. */
export function violates(error: unknown, constraint: string): boolean {
  return codeOf(error).startsWith('23') && reportOf(error).constraint === constraint;
}

/** PostgreSQL's codes, by class, of errors whose message may repeat a value: data exceptions, and what a trigger raises. */
const WITH_VALUE = /^(22|P0)/;

/**
 * The parts of an error that a log may keep. The other fields of PostgreSQL's and TypeORM's errors repeat rows and parameters,
 * and those of Redis' errors the arguments of a command.
 */
export function loggableError(error: unknown) {
  const { message, stack, constructor } = error instanceof Error ? error : new Error(String(error));
  const { code, table, constraint } = reportOf(error);
  const loggable = { type: constructor.name, code, table, constraint };
  if (!WITH_VALUE.test(codeOf(error)) || message === '') {
    return { ...loggable, message, stack };
  }
  const hidden = 'the message is not logged, because it may repeat a value';
  return { ...loggable, message: hidden, stack: stack?.replace(message, hidden) };
}

const MAX_ATTEMPTS = 4;

/**
 * Runs the work, and up to three more times after an error that rolled its transaction back and may not recur: a
 * deadlock, a serialization failure, or a prepared statement that cannot be used.
 */
export async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(isSerializationConflict(error) || isUnusableStatement(error))) {
        throw error;
      }
    }
  }
}
