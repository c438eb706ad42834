import { EnvironmentError } from '#libs/config';
import { isDatabaseUnavailable } from '#libs/database';
import { EmbeddedPostgresError } from '#libs/embedded-postgres';
import { AdministrationError } from './auth';
import { InvalidPlanError } from './quotas';
import { StartError } from './serve';

/** Failures that are told of in one line; everything else is a defect and shows where it happened. */
const EXPLAINED = [
  EnvironmentError,
  EmbeddedPostgresError,
  AdministrationError,
  InvalidPlanError,
  StartError,
];

/** What there is to say of a failure. */
export function explain(error: unknown): string {
  if (EXPLAINED.some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  if (isDatabaseUnavailable(error)) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `The database of DATABASE_URL cannot be reached: ${message || code}.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Ends the process with one line on standard error. */
export function reportFailure(error: unknown): never {
  process.stderr.write(`petstore: ${explain(error)}\n`);
  process.exit(1);
}
