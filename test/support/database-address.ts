import type { NetConnectOpts } from 'node:net';

/** Where the database of this URL listens: on a Unix socket, or on a port. */
export function databaseAddress({ hostname, port }: URL): NetConnectOpts {
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) };
}
