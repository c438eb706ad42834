// This file starts, supervises and stops the PostgreSQL server of a data folder. A server counts as running if its
// socket accepts connections. The process id in a lock file does not show whether the server runs, because another
// container may use the same folder and has process ids of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Account, programOptions, programPath } from './binaries';
import { type DataFolder, WORKING_DIRECTORY, PORT, USER } from './cluster';
import { EmbeddedPostgresError, errorCodeOf, messageOf, reasonIn, withRemedy } from './failures';

/** Milliseconds to wait for a server that is recovering or stopping. */
const RESPONSE_TIMEOUT_MS = 60_000;
/**
 * If a lock file is younger than this (in milliseconds), its server may still be starting and not yet listen on the
 * socket.
 */
const LISTEN_TIMEOUT_MS = 2_000;
const SHUTDOWN_TIMEOUT_MS = 10_000;
/**
 * If `server.log` is larger than this when a server starts, the file is renamed to `server.log.old` and a new file
 * begins.
 */
const MAX_LOG_BYTES = 1_000_000;
export const OWNER_LOCK = 7_366_277_318;
/** Matches temporary reasons for a failed start, for example that another process is starting a server, too. */
const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;

export interface Server {
  folder: DataFolder;
  /** The account that runs PostgreSQL if this process is root. Undefined if this process is not root. */
  account: Account | undefined;
  database: string;
  parameters: Record<string, string>;
  log: (line: string) => void;
  signal?: AbortSignal;
}

export class ServerInUseError extends EmbeddedPostgresError {}

/**
 * Signals with which people and systems stop a server that has no fault. If one of these signals ends the server during
 * its start, the server is started again, because the application still needs a database. A server that any other signal
 * has ended, such as SIGSEGV, has crashed. Such a server is not started again, because it would probably crash again.
 */
const OUTSIDE_SIGNALS: (NodeJS.Signals | null)[] = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGKILL'];

const NOT_LISTENING_CODES = ['ENOENT', 'ECONNREFUSED'];

/** The types of pg lack `ref` and `unref`. After `unref`, the process can end while the connection is open. */
type Connection = Client & { ref(): void; unref(): void };

/**
 * Connects to the server of a data folder, and makes this process the owner of the server: the only process that may stop
 * and restart it. Starts a server if none runs.
 * @throws ServerInUseError if another process owns the server
 */
async function connectAsOwner(server: Server): Promise<Connection> {
  const { folder } = server;
  const end = Date.now() + RESPONSE_TIMEOUT_MS;
  let launched: ChildProcess | undefined;
  try {
    for (;;) {
      const answer = await connect(server);
      if (answer instanceof Client) return answer;
      server.signal?.throwIfAborted();
      if (Date.now() > end) {
        // The server needs more time, for example to recover from a crash. Give up, but do not let the `catch` block stop the
        // server, so that the recovery goes on, and the next start takes less time.
        launched = undefined;
        throw new EmbeddedPostgresError(
          `PostgreSQL in ${folder.path} has not become ready in ${RESPONSE_TIMEOUT_MS / 1_000} s (${messageOf(answer)}); ` +
            `see ${folder.log}, and start again later`,
        );
      }
      if (launched && hasEnded(launched, folder)) {
        launched = undefined;
        await sleep(100);
      } else if (!launched && NOT_LISTENING_CODES.includes(errorCodeOf(answer)) && isFree(folder)) {
        launched = launch(server);
      }
      await sleep(20);
    }
  } catch (error) {
    // If another process has become the owner of the server that this process has launched, leave the server running,
    // because only its owner may stop it.
    const isOfOther = error instanceof ServerInUseError;
    if (launched?.pid && !isOfOther) await stopPostmaster(folder, launched.pid, ['SIGINT', 'SIGQUIT']);
    throw error;
  }
}

/**
 * Connects to the server once, and makes this process the owner of the server. Returns an error that may be temporary, so
 * that the caller tries again. Throws any other error.
 */
async function connect({ folder, database }: Server): Promise<Connection | Error> {
  const connection = new Client({
    ...{ host: folder.cluster, port: PORT, user: USER, database: 'postgres', ssl: false },
    connectionTimeoutMillis: 5_000,
    query_timeout: RESPONSE_TIMEOUT_MS,
    // Set `options`, because otherwise PGOPTIONS in the application's environment would apply.
    options: '-c client_min_messages=warning',
    application_name: 'embedded-postgres',
  }) as Connection;
  // Ignore errors that the connection reports between queries, because an unhandled `error` event would end the
  // process. If the connection breaks, the next query fails as well.
  connection.on('error', () => undefined);
  try {
    await connection.connect();
    const found = await connection.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) {
      await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(database)}`);
    }
    const sql = 'SELECT pg_try_advisory_lock($1) AS "isOwner"';
    const { rows } = await connection.query<{ isOwner: boolean }>(sql, [OWNER_LOCK]);
    if (rows[0]!.isOwner) return connection;
  } catch (error) {
    await connection.end().catch(() => undefined);
    if (!/^(28|53)/.test(errorCodeOf(error))) return error as Error;
    throw new EmbeddedPostgresError(
      `cannot use PostgreSQL in ${folder.path}: ${messageOf(error)}; see ${folder.log}, and start again later`,
    );
  }
  await connection.end();
  throw new ServerInUseError(
    `another process runs PostgreSQL in ${folder.path}; stop that process first, or choose another folder`,
  );
}

function pidIn(file: string): number {
  try {
    return Number.parseInt(fs.readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/** True if a server may be started in a folder. Removes lock files of a dead server, which could prevent a start. */
function isFree({ cluster }: DataFolder): boolean {
  for (const name of ['postmaster.pid', `.s.PGSQL.${PORT}.lock`]) {
    const file = join(cluster, name);
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (!stats) continue;
    // Use the absolute difference. If the clock was set back after the lock file was written, the time of the file is
    // in the future.
    const isFresh = Math.abs(Date.now() - stats.mtimeMs) < LISTEN_TIMEOUT_MS;
    if (isFresh || isPostmaster(cluster, pidIn(file))) return false;
    fs.rmSync(file, { force: true });
  }
  return true;
}

/** Returns a setting for the command line of the server, by which `isPostmaster` recognizes the server's process. */
function processMark(cluster: string): string {
  return `embedded.cluster=${cluster}`;
}

/**
 * True if `pid` is the main process of the server of this database cluster. False for zombies and for processes of
 * another container.
 */
function isPostmaster(cluster: string, pid: number): boolean {
  try {
    const command =
      process.platform === 'linux'
        ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return `${command.trim()} `.includes(` ${processMark(cluster)} `);
  } catch {
    return false;
  }
}

/** Starts the server as a detached process, so that Ctrl-C in the terminal does not reach the server. */
function launch({ folder, account, parameters }: Server): ChildProcess {
  const { cluster, runtime } = folder;
  if ((fs.statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) {
    fs.renameSync(folder.log, `${folder.log}.old`);
  }
  const log = fs.openSync(folder.log, 'a', 0o600);
  const settings = settingsOf(parameters, cluster).flatMap((setting) => ['-c', setting]);
  const args = ['-D', account ? WORKING_DIRECTORY : cluster, ...settings];
  const options = { ...programOptions(account, cluster), detached: true };
  try {
    const program = programPath('postgres', account, runtime);
    const child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
    child.once('error', (error) => fs.appendFileSync(folder.log, `FATAL: ${messageOf(error)}\n`));
    child.unref();
    return child;
  } finally {
    fs.closeSync(log);
  }
}

/**
 * True if the new server has ended but another attempt to start it may succeed.
 * @throws EmbeddedPostgresError if the server has ended for a reason that will not pass
 */
function hasEnded({ pid, exitCode, signalCode }: ChildProcess, { path, cluster, log }: DataFolder): boolean {
  if (pid !== undefined && exitCode === null && signalCode === null) return false;
  const reason = reasonIn(fs.readFileSync(log, 'utf8')).replaceAll(WORKING_DIRECTORY, cluster);
  if (exitCode === 0 || OUTSIDE_SIGNALS.includes(signalCode) || CONFLICT.test(reason)) return true;
  throw new EmbeddedPostgresError(`PostgreSQL does not start in ${path}: ${withRemedy(reason)}; see ${log}`);
}

function settingsOf(parameters: Record<string, string>, cluster: string): string[] {
  const settings = {
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Log no statements that fail, because their text may contain secrets. PostgreSQL writes such statements with the level
    // ERROR, and `log` is the next higher level of this setting.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...parameters,
    // Listen only on a socket in the data directory, which only the account of the server may enter.
    listen_addresses: '',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: PORT,
  };
  return [...Object.entries(settings).map(([name, value]) => `${name}=${value}`), processMark(cluster)];
}

/**
 * Sends the signals one after the other, each after ten more seconds, until the server has ended. After SIGTERM, the
 * server waits for all sessions to end. After SIGINT, the server ends the sessions. After SIGQUIT, the server ends at once,
 * without a checkpoint.
 */
async function stopPostmaster(
  { cluster }: DataFolder,
  pid: number,
  signals: NodeJS.Signals[],
): Promise<void> {
  for (const signal of signals) {
    if (isPostmaster(cluster, pid)) process.kill(pid, signal);
    for (const end = Date.now() + SHUTDOWN_TIMEOUT_MS; Date.now() < end; await sleep(10)) {
      if (!isPostmaster(cluster, pid)) return;
    }
  }
}

/**
 * Starts the server and owns it until `stop` is called. If the server dies and cannot be started again, `lost` resolves
 * with the error.
 * @throws ServerInUseError if another process owns the server
 */
export async function superviseServer(server: Server) {
  const { folder, log } = server;
  let connection = await connectAsOwner(server);
  let pid = 0;
  let isStopped = false;
  const keep = async (): Promise<void> => {
    for (;;) {
      pid = pidIn(join(folder.cluster, 'postmaster.pid'));
      connection.unref();
      await new Promise((resolve) => connection.once('end', resolve));
      if (isStopped) return;
      // Connect again. `connectAsOwner` starts a server if no server runs. If only one session has crashed, the server still
      // runs, and recovers by itself.
      connection = await connectAsOwner(server);
      log(`PostgreSQL in ${folder.path} had died and is running again`);
      if (isStopped) connection.end().catch(() => undefined);
    }
  };
  const kept = keep();
  const lost = new Promise((resolve) => {
    kept.catch(resolve);
  });
  const end = async (signals: NodeJS.Signals[]): Promise<void> => {
    isStopped = true;
    connection.ref();
    await connection.end().catch(() => undefined);
    await kept.catch(() => undefined);
    await stopPostmaster(folder, pid, signals);
  };
  let stopped: Promise<void> | undefined;
  return { lost, stop: (signals: NodeJS.Signals[]) => (stopped ??= end(signals)) };
}
