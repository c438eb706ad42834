import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvironmentError, type Reader, WELL_FORMED, isWellFormedUrl } from './environment';

/**
 * The parts of a URL. As in libpq, the user and password end at the last `@` before the path. If they contain `?` or `#`,
 * they end at the first `@`.
 */
const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*|[^/@]*)@)?([^/?#@]*)(?:\/([^?#@]*))?(?:\?([^#]*))?$/;

/** Parts of the URL that may be given as parameters instead, for example `?host=/run/postgresql`. */
const PLACES = ['host', 'port', 'user', 'password', 'dbname'];
/**
 * The parameters that are times. PostgreSQL's units are not accepted, because the driver would read `5s` as five
 * milliseconds.
 */
const TIMES = { connect_timeout: 'seconds', statement_timeout: 'milliseconds' };
/** All parameters that are accepted. Any other parameter would have no effect, and somebody might rely on it. */
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
 * Reads a PostgreSQL URL with libpq's rules, and returns a URL that the driver reads in the same way. Errors never show the
 * whole URL, because it may contain a password. An error shows the name or value of a wrong parameter, unless this text may
 * be the rest of a password.
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
  // Check the names after the form of the URL: `postgres://user:pa?ss` has no host, so `ss` is not a parameter but the rest
  // of the password, which an error must not show.
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

/**
 * Returns `user:password@host:port/database`. Parameters take precedence over the parts of the URL, and the host may be the
 * folder of a Unix socket.
 */
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
  // The driver decodes the database name with `decodeURI`, which leaves some characters encoded, for example `%2F`. Decode
  // these here.
  const databaseName = (given.dbname ?? database).replace(/%(?:2[46BCF]|3[ABD]|40)/gi, decodeURIComponent);
  return `${name}${secret}${name || secret ? '@' : ''}${place}/${databaseName}`;
}

/** Makes the driver treat `sslmode` as libpq does. By default the driver would verify the certificate in every mode. */
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
  // URLSearchParams writes a space as `+`, which the driver reads as a space and psql as a plus sign. Both read `%20` as a
  // space.
  url.search = parameters.toString().replaceAll('+', '%20');
  return url;
}

export function timeIn(url: string, parameter: keyof typeof TIMES): number | undefined {
  const text = new URLSearchParams(url.split('?')[1]).get(parameter);
  return text === null ? undefined : Number(text);
}

/**
 * Removes `statement_timeout` from the URL, because a connection pooler refuses this parameter. The session sets the
 * timeout by a statement instead.
 */
export function withoutStatementTimeout(url: string): string {
  return url.replace(/([?&])statement_timeout=\d+&?/, '$1');
}

export function locationOf(url: string): string {
  const { host, pathname } = new URL(url);
  return decodeURIComponent(`${host}${pathname}`);
}
