import cluster from 'node:cluster';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { settingNames } from '../settings';
import { formatError } from './messages';

const FILE = '.env';
const ROOT = 0;
/** With a collector, OpenTelemetry reads further variables itself. */
const OPENTELEMETRY = /^OTEL_[A-Z_]+$/;

/** `.env` cannot be used; the message is one line. */
export class EnvironmentFileError extends Error {}

/**
 * Adds the settings in `.env` of the working directory to the environment, unless they are set already. Whoever can write
 * the file must not control more than the settings: with NODE_OPTIONS it would run code in the worker processes. Other
 * programs may keep their variables in the same file, so these are ignored with a warning, not refused.
 */
export function loadEnvironmentFile(): void {
  // A worker has the environment of the first process.
  const variables = cluster.isWorker ? {} : readVariables();
  const known = settingNames();
  const given = new Set(Object.keys(process.env));
  const others: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    const partner = partnerOf(name);
    if (!known.has(name) && !OPENTELEMETRY.test(name)) {
      others.push(name);
    } else if (!given.has(name) && !(known.has(partner) && given.has(partner))) {
      process.env[name] = value;
    }
  }
  if (others.length > 0) {
    process.stderr.write(
      formatError(`${FILE}: ignored, because they are no settings: ${others.join(', ')}.`),
    );
  }
}

/** The other name of a secret: `DATABASE_URL_FILE` for `DATABASE_URL`, and vice versa. Both together would be refused. */
function partnerOf(name: string): string {
  return name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`;
}

function readVariables(): Record<string, string | undefined> {
  const link = lstatSync(FILE, { throwIfNoEntry: false });
  return link === undefined ? {} : parseEnv(readTrusted(link.uid));
}

/** @param owner who owns the directory entry, which may be a symbolic link */
function readTrusted(owner: number): string {
  const descriptor = open();
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) {
      throw new EnvironmentFileError(`${FILE} is not a file.`);
    }
    const stranger = [owner, stats.uid].find((uid) => uid !== ROOT);
    if (process.getuid?.() === ROOT && stranger !== undefined) {
      throw new EnvironmentFileError(
        `${FILE} belongs to user ${stranger}, and root reads only its own. Change its owner, or run this in another folder.`,
      );
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function open(): number {
  try {
    // A named pipe must not block the start.
    return openSync(FILE, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new EnvironmentFileError(`${FILE} cannot be read: ${(error as Error).message}.`);
  }
}
