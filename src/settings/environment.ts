import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';
import { OperatorError, PLAIN_PATH, formatError, isPlainPath, withoutSecrets } from '#libs/messages';

const INVALID = 'invalid_configuration';
const MAX_SHOWN = 60;

export class EnvironmentError extends OperatorError {
  constructor(variable: string, expected: string, given: string) {
    const safe = withoutSecrets(given);
    const shown = JSON.stringify(safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN)}…` : safe);
    super(`${variable} takes ${expected}, not ${shown}.`, INVALID);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type Reader<Value> = (text: string, variable: string) => Value;

/**
 * Returns a Reader that throws an EnvironmentError if the text is not valid.
 * @param expected describes the valid values in the error
 * @param read returns undefined if the text is not valid
 * @param shown replaces the text in the error if the text may contain a password
 */
export function readerFor<Value>(
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
  return readerFor(`a whole number from ${min} to ${max}${alternative}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return readerFor(`one of ${choices.join(', ')}`, (text) => choices.find((choice) => choice === text));
}

/** Reads a list separated by commas, with at least one entry. */
export function listOf(expected: string, isValid: (entry: string) => boolean): Reader<string[]> {
  return readerFor(expected, (text) => {
    const entries = text.split(',').map((entry) => entry.trim());
    const given = entries.filter((entry) => entry !== '');
    return given.length > 0 && given.every(isValid) ? given : undefined;
  });
}

export const path = readerFor(PLAIN_PATH, (text) => (isPlainPath(text) ? text : undefined));

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const hasPrefix = prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && hasPrefix && rest.length === 0;
}

export const networks = listOf('addresses or networks, such as 10.0.0.0/8', isNetwork);

export const WELL_FORMED =
  'a URL whose port is at most 65535 and whose special characters are percent-encoded (%25 for %)';

/** True if the URL can be parsed and decoded, which fails for a password with a bare `%`. */
export function isWellFormedUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

/** False if the text was read from invalid UTF-8, because Node replaces invalid bytes by U+FFFD. */
export function isValidUtf8(text: string): boolean {
  return !text.includes('\ufffd');
}

export function textIn(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim();
  if (value !== undefined && !isValidUtf8(value)) {
    throw new EnvironmentError(variable, 'text in UTF-8', '…');
  }
  return value === '' ? undefined : value;
}

/**
 * Returns the value of a variable, or the content of the file that `<variable>_FILE` names.
 * @throws EnvironmentError if the file is empty or cannot be read, because the service would otherwise start with a new
 * database or key
 */
export function secretIn(environment: Environment, variable: string): string | undefined {
  const given = textIn(environment, variable);
  const ofFile = `${variable}_FILE`;
  const file = textIn(environment, ofFile);
  if (file === undefined) {
    return given;
  }
  if (given !== undefined) {
    throw new EnvironmentError(ofFile, `a file only if ${variable} is not set (set one of the two)`, '…');
  }
  if (!isPlainPath(file)) {
    throw new EnvironmentError(ofFile, PLAIN_PATH, '…');
  }
  return secretFile(file, ofFile);
}

/** Do not show the path in the error, because somebody may have set the variable to the secret itself. */
const secretFile = readerFor(
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

/** @param secret true if the value may also be in a file that `<name>_FILE` names */
export function variable<Value, Fallback extends Value | undefined>(
  name: string,
  read: Reader<Value>,
  fallback: Fallback,
  { secret = false } = {},
) {
  const valueIn = (environment: Environment): Value | Fallback => {
    const text = (secret ? secretIn : textIn)(environment, name);
    return text === undefined ? fallback : read(text, name);
  };
  return { names: secret ? [name, `${name}_FILE`] : [name], valueIn };
}

export type Values<Variables extends Record<string, ReturnType<typeof variable>>> = {
  [Name in keyof Variables]: ReturnType<Variables[Name]['valueIn']>;
};

/**
 * Reads the values of the variables from the environment.
 * @throws EnvironmentError for the first invalid variable
 */
export function valuesIn<Variables extends Record<string, ReturnType<typeof variable>>>(
  variables: Variables,
  environment: Environment,
): Values<Variables> {
  const values = Object.entries(variables).map(([name, { valueIn }]) => [name, valueIn(environment)]);
  return Object.fromEntries(values) as Values<Variables>;
}

function decodeText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  // A zero byte means that the file is in UTF-16, which is refused like any text that is not UTF-8.
  if (text.includes('\0') || !isValidUtf8(text)) {
    throw new Error('it is not text in UTF-8');
  }
  return text;
}

/** Variables of PostgreSQL's client library (libpq) for parts of an address or a login that DATABASE_URL may leave out. */
const OF_LIBPQ = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE', 'PGPASSFILE'];

/**
 * Removes variables such as PGOPTIONS, which the PostgreSQL driver would apply to every connection. Keeps the variables
 * in OF_LIBPQ, because an operator may set, for example, PGPASSWORD instead of a password in DATABASE_URL. Must be
 * called before the driver is loaded, because the driver reads NODE_PG_FORCE_NATIVE when loaded.
 */
export function removeDriverVariables(environment: NodeJS.ProcessEnv): void {
  delete environment.NODE_PG_FORCE_NATIVE;
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PG') && !OF_LIBPQ.includes(name)) delete environment[name];
  }
}

/**
 * Sets the variables in the file `.env`, unless they are already set. Only settings of the service are accepted,
 * because other variables, such as NODE_OPTIONS, can run code.
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
  // With `--json`, print no warning, because a program then expects nothing but the JSON of an error.
  if (others.length > 0 && !process.argv.includes('--json')) {
    // Warn about variables in `.env` that set no setting of the service. Name the numbers of their lines instead of the
    // variables, because such a name may be a secret. For example, a line of a private key that ends with `=` looks like a
    // variable without a value.
    const lines = text.split(/\r?\n|\r/).map((line) => line.replace(/^\s*(export\s+)?/, ''));
    const places = others.map((name) => `line ${lines.findIndex((line) => isSetIn(line, name)) + 1}`);
    const message = `.env: lines that set no setting of the service are ignored: ${places.join(', ')}.`;
    process.stderr.write(formatError(message));
  }
  for (const name of known) {
    if (variables[name] !== undefined) process.env[name] ??= variables[name];
  }
}

function isSetIn(line: string, name: string): boolean {
  return line.startsWith(name) && /^\s*=/.test(line.slice(name.length));
}

function readTrusted(): string {
  try {
    // Use O_NONBLOCK, because opening a named pipe would otherwise block the start.
    const descriptor = openSync('.env', constants.O_RDONLY | constants.O_NONBLOCK);
    const [link, file] = [lstatSync('.env'), fstatSync(descriptor)];
    if (!file.isFile()) throw new Error('it is not a regular file');
    if (process.getuid?.() === 0 && (link.uid !== 0 || file.uid !== 0)) {
      throw new Error('the file belongs to another user, and root reads only a file of root');
    }
    const bytes = readFileSync(descriptor);
    closeSync(descriptor);
    return decodeText(bytes);
  } catch (error) {
    throw new OperatorError(`.env cannot be read: ${(error as Error).message}.`, INVALID);
  }
}
