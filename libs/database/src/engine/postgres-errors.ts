import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { OverloadedError } from './queue';

const CONNECTION_FAILED =
  /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/**
 * PostgreSQL's error codes (appendix A) for failures that pass or that an operator can end, and that are not the caller's
 * fault. Examples are a lost connection (08) and a table that a migration has not created yet (42P01).
 */
const UNAVAILABLE = /^(08|28|3D|3F|53|57|25P0[34]|55P03|55000|25006|42P01|42703|42501)/;

const TLS_FAILED = /CERT|^UNABLE_TO_VERIFY|^ERR_(SSL|TLS)_|^EPROTO$/;

/** Messages of lost connections for which the driver and TypeORM set no error code. */
const CONNECTION_LOST_TEXT =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Driver not Connected|Cannot use a pool after calling end|Query runner already released|Database connection provided by a query runner was already released)/i;

type ErrorFields = Partial<
  Record<'code' | 'syscall' | 'routine' | 'table' | 'constraint' | 'message' | 'errors', unknown>
>;

function reportOf(error: unknown): ErrorFields {
  const report: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof report === 'object' && report !== null ? report : {};
}

/** Returns the PostgreSQL or Node error code of `error`, or an empty string if the error has no code. */
export function codeOf(error: unknown): string {
  const { code } = reportOf(error);
  return typeof code === 'string' ? code : '';
}

/**
 * True if a later attempt may succeed: the database cannot be reached, the connection was lost, or too many requests
 * wait for the database.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof OverloadedError) {
    return true;
  }
  const { message, errors, syscall } = reportOf(error);
  const code = codeOf(error);
  const isOutage = [CONNECTION_FAILED, UNAVAILABLE, TLS_FAILED].some((codes) => codes.test(code));
  // Every failure to connect is an outage, also a failure with an unusual error code.
  if (isOutage || syscall === 'connect') {
    return true;
  }
  // Node tries every address of a host name and reports all failures in one error. Such an error is an outage if each
  // of its failures is an outage.
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((inner) => isDatabaseUnavailable(inner));
  }
  return typeof message === 'string' && CONNECTION_LOST_TEXT.test(message);
}

/**
 * True if PostgreSQL rejected a statement, so that the transaction had no effect. After any other failure, the commit
 * may have succeeded.
 */
export function isRefusedStatement(error: unknown): boolean {
  return (
    reportOf(error) instanceof DatabaseError && codeOf(error) !== '40003' && !isDatabaseUnavailable(error)
  );
}

/** True after a deadlock or a serialization failure. The transaction can be retried. */
export function isSerializationConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** True if a prepared statement cannot be used, for example because the connection has lost the statement. */
export function isUnusableStatement(error: unknown): boolean {
  const isOutdated = codeOf(error) === '0A000' && reportOf(error).routine === 'RevalidateCachedQuery';
  return isOutdated || ['26000', '42P05'].includes(codeOf(error));
}

/** True if a statement violated this constraint: a unique, check or foreign key constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return codeOf(error).startsWith('23') && reportOf(error).constraint === constraint;
}

/** Classes of PostgreSQL errors whose message may contain stored values and must not be logged. */
const WITH_VALUE = /^(22|P0)/;
/** The routine of PostgreSQL behind RAISE, with which a trigger can give any text as a message, and any error code. */
const RAISE_ROUTINE = 'exec_stmt_raise';

/** Returns the parts of an error that are safe to log. Other fields may contain stored values. */
export function loggableError(error: unknown) {
  const { message, stack, constructor } = error instanceof Error ? error : new Error(String(error));
  const { code, table, constraint, routine } = reportOf(error);
  const loggable = { type: constructor.name, code, table, constraint };
  const mayHaveValue = WITH_VALUE.test(codeOf(error)) || routine === RAISE_ROUTINE;
  if (!mayHaveValue || message === '') {
    return { ...loggable, message, stack };
  }
  const hidden = 'the message is not logged, because it may repeat a value';
  return { ...loggable, message: hidden, stack: stack?.replace(message, hidden) };
}

const MAX_ATTEMPTS = 4;

/** Runs `work`, and up to three more times after an error that may not recur, such as a deadlock. */
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
