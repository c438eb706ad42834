import { EnvironmentError } from '#libs/config';
import { isDatabaseUnavailable } from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { AdministrationError } from './auth';
import { InvalidPlanError } from './quotas';
import { StartError } from './start-error';

/** Failures that are told of in one line; everything else is a defect and shows where it happened. */
const EXPLAINED = [
  EnvironmentError,
  EmbeddedPostgresError,
  AdministrationError,
  InvalidPlanError,
  StartError,
];

/** PostgreSQL's codes (its appendix A) of a refused user or password, an unknown database and a missing right. */
const REFUSED_CODE = /^(28...|3D000|42501)$/;
/** What the driver and Node say of an encrypted connection that cannot be; their codes differ from case to case. */
const REFUSED_TEXT = /^The server does not support SSL|certificate/;

/** What there is to say of a failure. */
export function explain(error: unknown): string {
  if (EXPLAINED.some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  if (isDatabaseUnavailable(error)) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `The database of DATABASE_URL cannot be reached: ${message || code}.`;
  }
  if (isRefused(error)) {
    return `The database of DATABASE_URL cannot be used: ${(error as Error).message}.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function isRefused(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return REFUSED_CODE.test(String(code)) || REFUSED_TEXT.test(String(message));
}

/** Ends the process with one line on standard error. */
export function reportFailure(error: unknown): never {
  process.stderr.write(`petstore: ${explain(error)}\n`);
  process.exit(1);
}
