import { EnvironmentError } from '#libs/config';
import { isDatabaseUnavailable } from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { AdministrationError } from '../modules/auth';
import { complaint } from './complaint';
import { printable } from './text';
import { InvalidPlanError } from '../modules/quotas';

/** The service could not start; the message is one line for the operator. */
export class StartError extends Error {}

/** The service could not start, for a reason that a worker process has already reported. */
export class ReportedStartError extends Error {}

/** Failures that are reported in one line; everything else is a defect and is reported with its stack. */
const EXPLAINED = [
  EnvironmentError,
  EmbeddedPostgresError,
  AdministrationError,
  InvalidPlanError,
  StartError,
];

/** PostgreSQL's codes (its appendix A) of a refused user or password, an unknown database and a missing right. */
const REFUSED_CODE = /^(28...|3D000|42501)$/;
/** A full disk, want of memory, a statement that took too long, or a standby: the database was reached and said why it refuses. */
const UNABLE_CODE = /^(53100|53200|57014|25006)$/;
/** What the driver and Node say of an encrypted connection that cannot be; their codes differ from case to case. */
const REFUSED_TEXT = /^The server does not support SSL|certificate/;

/** The text that reports a failure: one line where it can be explained. */
export function explain(error: unknown): string {
  const reason = reasonOf(error);
  return reason === undefined ? traceOf(error) : complaint(reason);
}

function reasonOf(error: unknown): string | undefined {
  if (EXPLAINED.some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  if (isDatabaseUnavailable(error)) {
    const { code, message } = error as NodeJS.ErrnoException;
    const outcome = isUnable(error) ? 'could not do it' : 'of DATABASE_URL cannot be reached';
    return `The database ${outcome}: ${message || code}.`;
  }
  if (isRefused(error)) {
    return `The database of DATABASE_URL cannot be used: ${(error as Error).message}.`;
  }
  return undefined;
}

function traceOf(error: unknown): string {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `petstore: ${trace.split('\n').map(printable).join('\n')}\n`;
}

function isRefused(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return REFUSED_CODE.test(String(code)) || REFUSED_TEXT.test(String(message));
}

function isUnable(error: unknown): boolean {
  return UNABLE_CODE.test(String((error as { code?: unknown }).code));
}

/** Reports the failure on standard error and ends the process. */
export function reportFailure(error: unknown): never {
  if (!(error instanceof ReportedStartError)) {
    process.stderr.write(explain(error));
  }
  process.exit(1);
}
