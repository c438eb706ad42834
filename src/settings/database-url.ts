import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvironmentError, type Reader, WELL_FORMED, isWellFormedUrl } from './environment';

/** Splits the URL of a database as PostgreSQL's own programs do, even if the password contains `@`, `?` or `#`. */
const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*|[^/@]*)@)?([^/?#@]*)(?:\/([^?#@]*))?(?:\?([^#]*))?$/;

/** Parts of the URL that may also be given as parameters, for example `?host=/run/postgresql`. */
const PLACES = ['host', 'port', 'user', 'password', 'dbname'];
/**
 * Parameters that are times. A time with a unit is refused, because the driver would ignore the unit and read `5s` as
 * five milliseconds.
 */
const TIMES = { connect_timeout: 'seconds', statement_timeout: 'milliseconds' };
/** All accepted parameters. Other parameters are refused, because the driver would silently ignore them. */
const PARAMETERS = [
  ...['options', 'application_name', ...Object.keys(TIMES)],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
];
const TLS_FILES: Record<string, (pem: Buffer) => unknown> = {
  sslrootcert: (pem) => new X509Certificate(pem),
  sslcert: (pem) => new X509Certificate(pem),
  sslkey: createPrivateKey,
};
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'];

type Refusal = (expected: string, given: string) => EnvironmentError;

/**
 * Reads a PostgreSQL URL, and returns a URL that the driver understands in the same way as PostgreSQL's own programs.
 * Errors never contain the URL, which may contain a password.
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
    const expected = 'one host (for several servers, a proxy or a DNS name that leads to the primary server)';
    throw new EnvironmentError(variable, expected, '…');
  }
  const url = `${scheme}${authorityOf(parameters, user, address, database)}`;
  if (scheme === undefined || !isWellFormedUrl(url)) {
    throw new EnvironmentError(variable, WELL_FORMED, '…');
  }
  // Check the names of parameters last, because this error shows the name of a parameter. In a malformed URL, a part of
  // the password may look like the name of a parameter. The checks above have refused malformed URLs without showing
  // any part.
  const unknown = [...parameters.keys()].find((name) => ![...PLACES, ...PARAMETERS].includes(name));
  if (unknown !== undefined) {
    const schema = 'to choose a schema: options=-csearch_path%3Dshop';
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

/** Returns `user:password@host:port/database`. Parameters take precedence over the parts of the URL. */
function authorityOf(parameters: URLSearchParams, user = '', address = '', database = ''): string {
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
  // Decode characters such as `%2F` in the name of the database, which the driver would leave encoded.
  const databaseName = (given.dbname ?? database).replace(/%(?:2[46BCF]|3[ABD]|40)/gi, decodeURIComponent);
  return `${name}${secret}${name || secret ? '@' : ''}${place}/${databaseName}`;
}

/**
 * Makes the driver interpret `sslmode` like PostgreSQL's own programs. By default, the driver would verify the
 * certificate in every mode.
 */
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
  // Write spaces as `%20`, because psql reads `+` as a plus sign.
  url.search = parameters.toString().replaceAll('+', '%20');
  return url;
}

export function timeIn(url: string, parameter: keyof typeof TIMES): number | undefined {
  const text = new URLSearchParams(url.split('?')[1]).get(parameter);
  return text === null ? undefined : Number(text);
}

/** Removes `statement_timeout` from the URL, because connection poolers refuse this parameter. */
export function withoutStatementTimeout(url: string): string {
  return url.replace(/([?&])statement_timeout=\d+&?/, '$1');
}

export function locationOf(url: string): string {
  const { host, pathname } = new URL(url);
  return decodeURIComponent(`${host}${pathname}`);
}
