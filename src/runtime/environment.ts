import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { OperatorError } from '../operator-error';
import { formatError, withoutSecrets } from './messages';

const INVALID = 'invalid_configuration';
const MAX_SHOWN = 60;

export class EnvironmentError extends OperatorError {
  constructor(variable: string, expected: string, given: string) {
    // Escaped and shortened, so that the message stays one line for any value.
    const safe = withoutSecrets(given);
    const shown = JSON.stringify(safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN)}…` : safe);
    super(`${variable} takes ${expected}, not ${shown}.`, INVALID);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Makes a value of the text of a variable. @throws EnvironmentError */
export type Reader<Value> = (text: string, variable: string) => Value;

/**
 * @param read returns undefined for what the variable does not take
 * @param shown what an error shows instead of the text, which may contain a password
 */
export function taking<Value>(
  expected: string,
  read: (text: string) => Value | undefined,
  shown?: '…',
): Reader<Value> {
  return (text, variable) => {
    const value = read(text);
    if (value === undefined) {
      throw new EnvironmentError(variable, expected, shown ?? text);
    }
    return value;
  };
}

export function integer(min: number, max: number, alternative = ''): Reader<number> {
  return taking(`a whole number from ${min} to ${max}${alternative}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return taking(`one of ${choices.join(', ')}`, (text) => choices.find((choice) => choice === text));
}

export function entriesOf(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

export const WRITTEN_OUT = 'a path that is written out: only a shell knows ~ and $';

export function isWrittenOut(path: string): boolean {
  return !/^[~$]/.test(path);
}

export const path = taking(WRITTEN_OUT, (text) => (isWrittenOut(text) ? text : undefined));

export const WELL_FORMED =
  'a URL with a port up to 65535, where it has one, and special characters percent-encoded (%25 for %)';

/** A password with a bare `%` parses as a URL, but a client that decodes it fails when it connects. */
export function isWellFormedUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

/** Whether a text was UTF-8: Node puts this character in place of what is not. */
export function isDecoded(text: string): boolean {
  return !text.includes('\ufffd');
}

/** The text of a variable; undefined if it is absent or empty. @throws EnvironmentError if it is not UTF-8 */
export function textIn(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim();
  if (value !== undefined && !isDecoded(value)) {
    throw new EnvironmentError(variable, 'text in UTF-8', '…');
  }
  return value === '' ? undefined : value;
}

/**
 * The text of a variable, or of the file that `…_FILE` names, as container platforms mount secrets. Whoever names a file wants
 * the secret in it: without it, the service would run on a database or key of its own.
 */
export function secretIn(environment: Environment, variable: string): string | undefined {
  const given = textIn(environment, variable);
  const ofFile = `${variable}_FILE`;
  const file = textIn(environment, ofFile);
  if (file === undefined) {
    return given;
  }
  if (given !== undefined) {
    throw new EnvironmentError(ofFile, `a file only without ${variable}`, '…');
  }
  if (!isWrittenOut(file)) {
    throw new EnvironmentError(ofFile, WRITTEN_OUT, '…');
  }
  return secretFile(file, ofFile);
}

/** An error does not show the path, which may be the secret itself. */
const secretFile = taking(
  'a file that can be read, with text in UTF-8',
  (file) => {
    try {
      return decodeText(readFileSync(file)).trim() || undefined;
    } catch {
      return undefined;
    }
  },
  '…',
);

/** Text in UTF-8, without its byte order mark. */
function decodeText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  // UTF-16 is full of zeros.
  if (text.includes('\0') || !isDecoded(text)) {
    throw new Error('it is not text in UTF-8');
  }
  return text;
}

/** The variables of libpq that complete a URL. */
const OF_LIBPQ = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE', 'PGPASSFILE'];

/**
 * Removes all other variables of libpq: the driver would apply each to every connection, also to the embedded server. Called
 * before the driver is loaded, which would load another one in its place, `pg-native`, if its own variable is set.
 */
export function removeDriverVariables(environment: NodeJS.ProcessEnv): void {
  delete environment.NODE_PG_FORCE_NATIVE;
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PG') && !OF_LIBPQ.includes(name)) delete environment[name];
  }
}

/**
 * Adds the settings in `.env` of the working directory to the environment, unless they are set already. Whoever can write
 * the file must not control more than the settings: with NODE_OPTIONS it would run code in the worker processes.
 */
export function loadEnvironmentFile(known: ReadonlySet<string>): void {
  if (lstatSync('.env', { throwIfNoEntry: false }) === undefined) {
    return;
  }
  const text = readTrusted();
  const variables = parseEnv(text);
  const written = Array.from(text.matchAll(/^[ \t]*(?:export[ \t]+)?(\w+)/gm), ([, name]) => name!);
  const unread = written.find((name) => known.has(name) && variables[name] === undefined);
  if (unread !== undefined) {
    throw new OperatorError(`.env cannot be read: write ${unread}=…, with nothing before it.`, INVALID);
  }
  const others = Object.keys(variables).filter((name) => !known.has(name));
  if (others.length > 0) {
    // The message has line numbers instead of names: a name may be part of a secret that spans several lines.
    const lines = text.split(/\r?\n|\r/).map((line) => line.replace(/^\s*(export\s+)?/, ''));
    const places = others.map((name) => `line ${lines.findIndex((line) => isSetIn(line, name)) + 1}`);
    const message = `.env: ignored, because they set none of the settings: ${places.join(', ')}.`;
    process.stderr.write(formatError(message));
  }
  for (const name of known) {
    if (variables[name] !== undefined) process.env[name] ??= variables[name];
  }
}

/** Whether the line sets this name, and not a longer one that begins alike. */
function isSetIn(line: string, name: string): boolean {
  return line.startsWith(name) && /^\s*=/.test(line.slice(name.length));
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
    const bytes = readFileSync(descriptor);
    closeSync(descriptor);
    return decodeText(bytes);
  } catch (error) {
    throw new OperatorError(`.env cannot be read: ${(error as Error).message}.`, INVALID);
  }
}
