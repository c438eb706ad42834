// DATABASE_URL takes what libpq takes, and becomes a URL with a host that the driver reads alike.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvironmentError, type Reader, WELL_FORMED, isWellFormedUrl } from './environment';

/** As libpq has it, a user and a password end at the last `@` before the path, or contain `?` and `#` and end at the first one. */
const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*|[^/@]*)@)?([^/?#@]*)(?:\/([^?#@]*))?(?:\?([^#]*))?$/;

/** These may stand among the parameters, too. */
const PLACES = ['host', 'port', 'user', 'password', 'dbname'];
/** PostgreSQL's units are not among them, because the driver reads `5s` as five milliseconds. */
const TIMES = { connect_timeout: 'seconds', statement_timeout: 'milliseconds' };
/** Any other would change nothing, and somebody would rely on it. */
const PARAMETERS = [
  ...['options', 'application_name', ...Object.keys(TIMES)],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
];
/** Of each file, what fails unless it holds that in PEM. */
const TLS_FILES: Record<string, (pem: Buffer) => unknown> = {
  sslrootcert: (pem) => new X509Certificate(pem),
  sslcert: (pem) => new X509Certificate(pem),
  sslkey: createPrivateKey,
};
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The error for a part of the URL. */
type Refusal = (expected: string, given: string) => EnvironmentError;

/**
 * Reads a URL of PostgreSQL. The errors omit its values, because one of them may be a password. They name a wrong parameter,
 * unless the name may be the rest of a password.
 */
export const databaseUrl: Reader<string> = (text, variable) => {
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new EnvironmentError(variable, 'a URL that starts with postgres:// or postgresql://', '…');
  }
  const [, scheme, user, address = '', database, query = ''] = FORM.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const mayHavePassword = query.includes('@') || parameters.has('password');
  const refusal: Refusal = (expected, given) =>
    new EnvironmentError(variable, expected, mayHavePassword ? '…' : given);
  if (address.includes(',') || parameters.get('host')?.includes(',')) {
    const expected = 'one host; a proxy or a DNS name may lead to the primary of several';
    throw new EnvironmentError(variable, expected, '…');
  }
  const url = `${scheme}${placed(parameters, user, address, database)}`;
  if (scheme === undefined || !isWellFormedUrl(url)) {
    throw new EnvironmentError(variable, WELL_FORMED, '…');
  }
  // After the check of the place: in a URL without one, such as `postgres://user:pa?ss`, the name is a part of the password.
  const unknown = [...parameters.keys()].find((name) => ![...PLACES, ...PARAMETERS].includes(name));
  if (unknown !== undefined) {
    const schema = 'a schema is options=-csearch_path%3Dshop';
    throw refusal(`only the parameters ${PARAMETERS.join(', ')} (${schema})`, unknown);
  }
  for (const [name, unit] of Object.entries(TIMES)) {
    const time = parameters.get(name);
    if (time !== null && !/^[1-9]\d{0,8}$/.test(time)) {
      throw refusal(`${name} as a whole number of ${unit} from 1`, time);
    }
  }
  return withTls(new URL(url), parameters, refusal).href;
};

/** `user:password@host:port/database`, where parameters win; a socket's folder is a host. */
function placed(parameters: URLSearchParams, user = '', address = '', database = ''): string {
  const [, host = '', port = ''] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(address) ?? [];
  const given = Object.fromEntries(
    PLACES.map((name) => [name, parameters.get(name) && encodeURIComponent(parameters.get(name)!)]),
  );
  PLACES.forEach((name) => parameters.delete(name));
  const [ownName = '', ownPassword = ''] = user.replaceAll('?', '%3F').replaceAll('#', '%23').split(/:(.*)/s);
  const [name, password] = [given.user ?? ownName, given.password ?? ownPassword];
  const secret = password === '' ? '' : `:${password}`;
  const server = given.host ?? (host || encodeURIComponent(process.env.PGHOST || 'localhost'));
  const place = `${server}${given.port || port ? `:${given.port ?? port}` : ''}`;
  // The driver decodes a name by decodeURI, which leaves these as they are.
  const databaseName = (given.dbname ?? database).replace(/%(?:2[46BCF]|3[ABD]|40)/gi, decodeURIComponent);
  return `${name}${secret}${name || secret ? '@' : ''}${place}/${databaseName}`;
}

/** Reads `sslmode` as libpq does; the driver would verify the certificate in every mode. */
function withTls(url: URL, parameters: URLSearchParams, refusal: Refusal): URL {
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw refusal(`sslmode ${SSL_MODES.join(', ')}`, mode);
  }
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert');
  }
  for (const [name, read] of Object.entries(TLS_FILES)) {
    const file = parameters.get(name) ?? (name === 'sslrootcert' && mode === 'verify-ca' ? 'none' : null);
    try {
      if (file !== null) read(readFileSync(file));
    } catch {
      throw refusal(`a readable PEM file as ${name}`, file!);
    }
  }
  if (mode !== null && mode !== 'no-verify') {
    parameters.set('uselibpqcompat', 'true');
  }
  // Not as a form would have it: the driver and psql read a plus sign differently.
  url.search = parameters.toString().replaceAll('+', '%20');
  return url;
}

export function timeIn(url: string, parameter: keyof typeof TIMES): number | undefined {
  const text = new URLSearchParams(url.split('?')[1]).get(parameter);
  return text === null ? undefined : Number(text);
}

/** A pooler refuses it in the start of a connection; the session sets it. */
export function withoutStatementTimeout(url: string): string {
  return url.replace(/([?&])statement_timeout=\d+&?/, '$1');
}

/** `host:port/name`, without user and password. */
export function locationOf(url: string): string {
  const { host, pathname } = new URL(url);
  return decodeURIComponent(`${host}${pathname}`);
}
