import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { type DataFolder, FILES } from './data-folder';
import { EmbeddedPostgresError } from './errors';

/** Below the range from which systems take the ports of outgoing connections, so that it stays free. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * A free TCP port on 127.0.0.1: the one of the last start where that is free, so that connections of others
 * find the server again, else a random one.
 *
 * @param taken ports which have just been found taken
 * @param only the only port which will do; undefined: any
 * @throws EmbeddedPostgresError when that one is taken
 */
export async function choosePort(folder: DataFolder, taken: Set<number>, only?: number): Promise<number> {
  if (only !== undefined) {
    if ((await tryPort(only)) !== undefined) return only;
    throw new EmbeddedPostgresError(`port ${only} of 127.0.0.1 is taken by another program; end it`);
  }
  const remembered = Number(folder.read(FILES.port));
  const candidates = [remembered, ...Array.from({ length: 20 }, () => randomInt(LOWEST, HIGHEST))];
  for (const port of candidates) {
    if (!Number.isInteger(port) || port < 1024 || port > 65_535 || taken.has(port)) continue;
    if ((await tryPort(port)) !== undefined) return port;
  }
  // Whatever the system gives.
  const port = await tryPort(0);
  if (port === undefined) throw new Error('no TCP port on 127.0.0.1 is free');
  return port;
}

export function rememberPort(folder: DataFolder, port: number): void {
  if (folder.read(FILES.port) !== String(port)) folder.write(FILES.port, String(port));
}

async function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const found = typeof address === 'object' ? address?.port : undefined;
      server.close(() => resolve(found));
    });
  });
}
