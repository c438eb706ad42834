import { randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { USER } from './cluster';
import { type DataFolder, FILES } from './data-folder';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import {
  findPostmaster,
  launch,
  type Launch,
  readPostmasterFile,
  removeStaleFile,
  stopPostmaster,
} from './postmaster';
import { reasonIn } from './program';

/**
 * How long a server may take to respond, in milliseconds, and how long the sessions of a killed server may block its
 * start. Both can take a while: recovery after a crash, and statements that notice the crash only when they end.
 */
const PATIENCE = 60_000;
/** How long a postmaster.pid may be empty before it counts as left over from a power failure, in milliseconds. */
const EMPTY_FILE_PATIENCE = 2_000;
/** Above this size, in bytes, the next start rotates the log to server.log.1. */
const LOG_LIMIT = 8 * 1024 * 1024;

const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;
const PORT_TAKEN = /could not bind|could not create any TCP\/IP sockets/;

export interface Server extends Launch {
  folder: DataFolder;
  password: string;
  database: string;
  /** Prepares the binaries and returns their folder; called only if the server has to be started. */
  binaries: () => Promise<string>;
  log: (line: string) => void;
}

/**
 * Adopts the running server of the cluster, or starts one, and waits until it responds and has the database. Use it
 * only under the lock.
 *
 * @param only the required TCP port on 127.0.0.1; by default that of the last start, or a random one
 * @returns its address, and whether it was already running
 * @throws EmbeddedPostgresError with the server's reason
 */
export async function ensureRunning(
  server: Server,
  only?: number,
): Promise<{ port: number; adopted: boolean }> {
  const { cluster, folder } = server;
  const begin = Date.now();
  let native: string | undefined;
  let port = only ?? (Number(folder.read(FILES.port)) || randomPort());
  for (;;) {
    const running = findPostmaster(cluster);
    const hasEnded = (): boolean => findPostmaster(cluster)?.pid !== running?.pid;
    const adopted = running && (await waitUntilReady(server, running.pid, hasEnded));
    if (adopted !== undefined) {
      if (only === undefined || adopted === only) return { port: adopted, adopted: true };
      throw new EmbeddedPostgresError(
        `PostgreSQL in ${cluster} now runs on port ${adopted} instead of ${only}; start this program again`,
      );
    }
    removeStaleFile(cluster, Date.now() - begin > EMPTY_FILE_PATIENCE);
    native ??= await server.binaries();
    const failure = await start(server, native, port);
    if (failure === undefined) {
      if (folder.read(FILES.port) !== String(port)) folder.write(FILES.port, String(port));
      return { port, adopted: false };
    }
    // Sessions of a killed server notice it a moment later, and a server that another process has just started may not
    // be reported yet. Both show only when the start fails.
    const isTaken = PORT_TAKEN.test(failure);
    if (isTaken && only !== undefined) {
      throw new EmbeddedPostgresError(`port ${only} of 127.0.0.1 is taken by another program; end it`);
    }
    if (!(isTaken || CONFLICT.test(failure)) || Date.now() - begin > PATIENCE) {
      throw new EmbeddedPostgresError(
        `PostgreSQL does not start in ${cluster}: ${reasonIn(failure)}; see ${folder.file(FILES.log)}`,
      );
    }
    if (isTaken) port = randomPort();
    await sleep(100);
  }
}

/** Below the range of ports for outgoing connections, so that it stays free. */
function randomPort(): number {
  return randomInt(15_000, 32_000);
}

/** @returns the server's output if it ended before it was ready */
async function start(server: Server, native: string, port: number): Promise<string | undefined> {
  const { folder, cluster } = server;
  const path = folder.file(FILES.log);
  if (fs.existsSync(path) && fs.statSync(path).size > LOG_LIMIT) fs.renameSync(path, `${path}.1`);
  const log = folder.openToAppend(FILES.log);
  try {
    const { size } = fs.fstatSync(log);
    const { pid, hasEnded, failure } = launch(server, native, port, log);
    const isReady = pid !== undefined && (await waitUntilReady(server, pid, hasEnded)) !== undefined;
    // The event with the reason for a failed start arrives a moment later.
    await sleep(0);
    return isReady ? undefined : (failure() ?? fs.readFileSync(path).subarray(size).toString());
  } catch (error) {
    // A server in recovery continues: the next start finds it further along.
    if (readPostmasterFile(cluster)?.ready) await stopPostmaster(cluster).catch(() => undefined);
    throw error;
  } finally {
    fs.closeSync(log);
  }
}

/** @returns the port; undefined if the server ended before it was ready */
async function waitUntilReady(
  server: Server,
  pid: number,
  hasEnded: () => boolean,
): Promise<number | undefined> {
  const { cluster, folder } = server;
  const begin = Date.now();
  for (let isReported = false; !hasEnded(); await sleep(10)) {
    const file = readPostmasterFile(cluster);
    if (file?.pid === pid && file.ready && file.port && (await answers(server, file.port))) return file.port;
    const waited = Date.now() - begin;
    if (waited > PATIENCE) {
      throw new EmbeddedPostgresError(
        `PostgreSQL in ${cluster} has not become ready in ${PATIENCE / 1_000} s; ` +
          `it goes on recovering, start again later (see ${folder.file(FILES.log)})`,
      );
    }
    if (waited > 1_000 && !isReported) {
      isReported = true;
      server.log(`PostgreSQL in ${cluster} is starting up or recovering; waiting for it`);
    }
  }
  return undefined;
}

/**
 * Whether the server responds; creates its database if it is missing.
 *
 * @throws EmbeddedPostgresError if it rejects the password, or the database cannot be created
 */
async function answers({ cluster, folder, password, database }: Server, port: number): Promise<boolean> {
  const client = new Client({
    connectionString: urlOf(port, password, 'postgres'),
    ssl: false,
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    // An explicit value, because otherwise PGOPTIONS in the application's environment would apply.
    options: '-c client_min_messages=warning',
    application_name: 'embedded-postgres',
  });
  // If the connection breaks, the query fails as well; without a listener the error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`).catch((error: unknown) => {
        throw new EmbeddedPostgresError(`cannot create the database "${database}": ${messageOf(error)}`, {
          cause: error,
        });
      });
    }
    return true;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    // Invalid password or authorization. Everything else may be temporary: still starting, shutting down, refused.
    if (!codeOf(error)?.startsWith('28')) return false;
    throw new EmbeddedPostgresError(
      `the PostgreSQL server of ${cluster} on port ${port} refuses the password in ` +
        `${folder.file(FILES.password)}; put the right password there`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `postgres://user:password@127.0.0.1:port/database` */
export function urlOf(port: number, password: string, database: string): string {
  return `postgres://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
