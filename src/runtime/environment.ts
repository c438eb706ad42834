import cluster from 'node:cluster';
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { OperatorError } from '../operator-error';
import { formatError } from './messages';

const INVALID = 'invalid_configuration';

const MAX_SHOWN = 60;

export const WELL_FORMED =
  'a URL with a port up to 65535, where it has one, and special characters percent-encoded (%25 for %)';

/** An invalid environment variable. The message is one line that names the accepted values. */
export class EnvironmentError extends OperatorError {
  constructor(
    readonly variable: string,
    expected: string,
    given: string,
  ) {
    // Escaped and shortened, so that the message stays one line for any value.
    const shown = JSON.stringify(given.length > MAX_SHOWN ? `${given.slice(0, MAX_SHOWN)}…` : given);
    super(`${variable} takes ${expected}, not ${shown}.`, INVALID);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text in UTF-8, without its byte order mark; undefined for anything else, such as UTF-16, which is full of zeros. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Whether Node could decode an argument or a variable: it puts this character in place of what is not UTF-8. */
export function isDecoded(text: string): boolean {
  return !text.includes('\ufffd');
}

/** Why a path is none that anybody means: only a shell knows `~` and variables, and it has not seen this one. */
export function problemOfPath(path: string): string | undefined {
  return /^[~$]/.test(path) ? 'a path that is written out: only a shell knows ~ and $' : undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables of the environment into values; an empty variable counts as absent. */
export class EnvironmentReader {
  /** The variables that were asked for. */
  readonly names = new Set<string>();

  constructor(private readonly environment: Environment) {}

  text(variable: string): string | undefined;
  text(variable: string, fallback: string): string;
  text(variable: string, fallback?: string): string | undefined {
    this.names.add(variable);
    const value = this.environment[variable]?.trim() || fallback;
    if (value !== undefined && !isDecoded(value)) {
      throw new EnvironmentError(variable, 'text in UTF-8', '…');
    }
    return value;
  }

  path(variable: string): string | undefined {
    const path = this.text(variable);
    const problem = path && problemOfPath(path);
    if (problem) {
      throw new EnvironmentError(variable, problem, path);
    }
    return path;
  }

  integer(variable: string, fallback: number, range: { min: number; max: number }, alternative = ''): number {
    const text = this.text(variable);
    if (text === undefined) {
      return fallback;
    }
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= range.min && value <= range.max)) {
      throw new EnvironmentError(
        variable,
        `a whole number from ${range.min} to ${range.max}${alternative}`,
        text,
      );
    }
    return value;
  }

  oneOf<Choice extends string>(variable: string, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.text(variable) ?? fallback;
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) {
      throw new EnvironmentError(variable, `one of ${choices.join(', ')}`, text);
    }
    return choice;
  }

  /** A URL with one of these schemes (such as `postgres:`). The error omits the value, which may contain a password. */
  url(variable: string, schemes: readonly string[]): string | undefined {
    const text = this.text(variable);
    if (text === undefined) {
      return undefined;
    }
    const [scheme = ''] = /^[a-z][a-z\d+.-]*:(?=\/\/)/.exec(text) ?? [];
    if (!schemes.includes(scheme)) {
      throw new EnvironmentError(variable, `a URL that starts with ${schemes.join('// or ')}//`, '…');
    }
    if (!isWellFormedUrl(text)) {
      throw new EnvironmentError(variable, WELL_FORMED, '…');
    }
    return text;
  }

  /** A comma-separated list; each entry must pass `accepts`. */
  list(variable: string, expected: string, accepts: (entry: string) => boolean): string[] {
    const text = this.text(variable) ?? '';
    const entries = text.split(',').map((entry) => entry.trim());
    const named = entries.filter((entry) => entry !== '');
    const wrong = named.find((entry) => !accepts(entry));
    if (wrong !== undefined) {
      throw new EnvironmentError(variable, expected, wrong);
    }
    return named;
  }
}

/**
 * Whether it is a URL whose parts can be decoded. A password with a bare `%` parses as a URL, but a client that decodes
 * it fails when it connects.
 */
export function isWellFormedUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

/**
 * Adds the settings in `.env` of the working directory to the environment, unless they are set already. Whoever can write
 * the file must not control more than the settings: with NODE_OPTIONS it would run code in the worker processes.
 * @param known the names of the settings
 */
export function loadEnvironmentFile(known: ReadonlySet<string>): void {
  // A worker has the environment of the first process.
  const variables = cluster.isWorker || !existsSync('.env') ? {} : parseEnv(readTrusted());
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
    const text = decodeText(readFileSync(descriptor));
    closeSync(descriptor);
    if (text === undefined) throw new Error('it is not text in UTF-8');
    return text;
  } catch (error) {
    const reason = (error as Error).message;
    throw new OperatorError(`.env cannot be read: ${reason}.`, INVALID);
  }
}
