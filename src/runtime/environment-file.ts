import cluster from 'node:cluster';
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { settingNames } from '../settings';
import { formatError } from './messages';

/** `.env` cannot be used; the message is one line. */
export class EnvironmentFileError extends Error {}

/**
 * Adds the settings in `.env` of the working directory to the environment, unless they are set already. Whoever can write
 * the file must not control more than the settings: with NODE_OPTIONS it would run code in the worker processes.
 */
export function loadEnvironmentFile(): void {
  // A worker has the environment of the first process.
  const variables = cluster.isWorker || !existsSync('.env') ? {} : parseEnv(readTrusted());
  const known = settingNames();
  const others = Object.keys(variables).filter((name) => !known.has(name));
  if (others.length > 0) {
    process.stderr.write(formatError(`.env: ignored, because they are no settings: ${others.join(', ')}.`));
  }
  for (const name of known) {
    if (variables[name] !== undefined) process.env[name] ??= variables[name];
  }
}

function readTrusted(): string {
  try {
    // A named pipe must not block the start.
    const descriptor = openSync('.env', constants.O_RDONLY | constants.O_NONBLOCK);
    const [link, file] = [lstatSync('.env'), fstatSync(descriptor)];
    if (!file.isFile()) throw new Error('it is not a file');
    if (process.getuid?.() === 0 && (link.uid !== 0 || file.uid !== 0)) {
      throw new Error('it belongs to another user, and root reads only its own');
    }
    const text = readFileSync(descriptor, 'utf8');
    closeSync(descriptor);
    return text;
  } catch (error) {
    throw new EnvironmentFileError(`.env cannot be read: ${(error as Error).message}.`);
  }
}
