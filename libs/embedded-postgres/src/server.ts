// The socket decides whether a server runs: only a refused or missing one means that none does. A process id says nothing
// where processes of another container use the same folder.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type DataFolder, WORKING_DIRECTORY, PORT, USER } from './cluster';
import {
  EmbeddedPostgresError,
  errorCodeOf,
  messageOf,
  programFor,
  programOptions,
  reasonIn,
  withRemedy,
} from './binaries';

/** How long a server may take to respond, in milliseconds: it may be recovering, or another process stops it. */
const PATIENCE = 60_000;
/** How long after the creation of its lock file a server may take to listen, in milliseconds. */
const LISTEN_PATIENCE = 2_000;
/** How long a shutdown may take, in milliseconds, before the next signal. */
const STOP_PATIENCE = 10_000;
/** A start with a larger log begins another, and keeps this one in place of an older. */
const MAX_LOG_BYTES = 1_000_000;
/** The advisory lock of the process that owns the server, in the database `postgres`, where all of them meet. */
const LOCK = 7_366_277_318;
/** Sessions of a killed server hold its memory a moment longer, and another process may start the server as well. */
const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;

export interface Server {
  folder: DataFolder;
  database: string;
  parameters: Record<string, string>;
  log: (line: string) => void;
  /** Aborted when nobody waits for the server any more. */
  signal?: AbortSignal;
}

export class ServerInUseError extends EmbeddedPostgresError {}

/** What others send to a server; with any other signal it has crashed, and would again. */
const STOPPING: (NodeJS.Signals | null)[] = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGKILL'];

/** System error codes of a socket at which nobody listens. With any other error a server starts, recovers or stops. */
const NOT_LISTENING = ['ENOENT', 'ECONNREFUSED'];

/** `unref` lets the process end while it is open; the types of the driver lack it. */
type Connection = Client & { ref(): void; unref(): void };

/**
 * Connects to the server of the folder as its owner, and starts it if none runs. One that starts, recovers or stops is waited for.
 * @throws ServerInUseError if it has another owner
 */
async function connectAsOwner(server: Server): Promise<Connection> {
  const { folder } = server;
  const end = Date.now() + PATIENCE;
  let launched: ChildProcess | undefined;
  try {
    for (;;) {
      const answer = await connect(server);
      if (answer instanceof Client) return answer;
      server.signal?.throwIfAborted();
      if (Date.now() > end) {
        // It goes on recovering, so that the next start finds it further along.
        launched = undefined;
        throw new EmbeddedPostgresError(
          `PostgreSQL in ${folder.path} has not become ready in ${PATIENCE / 1_000} s (${messageOf(answer)}); ` +
            `see ${folder.log}, and start again later`,
        );
      }
      if (launched && hasEnded(launched, folder)) {
        launched = undefined;
        await sleep(100);
      } else if (!launched && NOT_LISTENING.includes(errorCodeOf(answer)) && isFree(folder)) {
        launched = launch(server);
      }
      await sleep(20);
    }
  } catch (error) {
    if (launched?.pid) await stopPostmaster(folder, launched.pid, ['SIGINT', 'SIGQUIT']);
    throw error;
  }
}

/** As an owner, who creates the database if it is missing. Returns an error that may be temporary, and throws any other. */
async function connect({ folder, database }: Server): Promise<Connection | Error> {
  const connection = new Client({
    ...{ host: folder.cluster, port: PORT, user: USER, database: 'postgres', ssl: false },
    connectionTimeoutMillis: 5_000,
    query_timeout: PATIENCE,
    // An explicit value, because otherwise PGOPTIONS in the application's environment would apply.
    options: '-c client_min_messages=warning',
    application_name: 'embedded-postgres',
  }) as Connection;
  // If the connection breaks, the query fails as well; without a listener the error would end the process.
  connection.on('error', () => undefined);
  try {
    await connection.connect();
    const found = await connection.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) {
      await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(database)}`);
    }
    const sql = 'SELECT pg_try_advisory_lock($1) AS "isOwner"';
    const { rows } = await connection.query<{ isOwner: boolean }>(sql, [LOCK]);
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
    `another process runs PostgreSQL in ${folder.path}; stop it first, or choose another folder`,
  );
}

/** 0 if there is none. */
function pidIn(file: string): number {
  try {
    return Number.parseInt(fs.readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/**
 * Whether a server may be started where nobody listens. Lock files of a dead one are removed: PostgreSQL only checks whether
 * their process exists, and after a restart of a container that is often another one.
 */
function isFree({ cluster }: DataFolder): boolean {
  for (const name of ['postmaster.pid', `.s.PGSQL.${PORT}.lock`]) {
    const file = join(cluster, name);
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (!stats) continue;
    // One of the future is of before the clock was set back.
    const isFresh = Math.abs(Date.now() - stats.mtimeMs) < LISTEN_PATIENCE;
    if (isFresh || isPostmaster(cluster, pidIn(file))) return false;
    fs.rmSync(file, { force: true });
  }
  return true;
}

/** An argument that tells servers apart. */
function processMark(cluster: string): string {
  return `embedded.cluster=${cluster}`;
}

/** Whether this is the process of the cluster's server. Those of another container, and zombies, are none. */
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

/** In a session of its own: Ctrl-C does not reach it, and an application that is killed leaves it to the next start. */
function launch({ folder, parameters }: Server): ChildProcess {
  const { cluster, runtime } = folder;
  const account = folder.account();
  if ((fs.statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) {
    fs.renameSync(folder.log, `${folder.log}.old`);
  }
  const log = fs.openSync(folder.log, 'a', 0o600);
  const settings = settingsOf(parameters, cluster).flatMap((setting) => ['-c', setting]);
  const args = ['-D', account ? WORKING_DIRECTORY : cluster, ...settings];
  const options = { ...programOptions(account, cluster), detached: true };
  try {
    const program = programFor('postgres', account, runtime);
    const child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
    child.once('error', (error) => fs.appendFileSync(folder.log, `FATAL: ${messageOf(error)}\n`));
    child.unref();
    return child;
  } finally {
    fs.closeSync(log);
  }
}

/** @throws EmbeddedPostgresError unless it was stopped or killed, or met another server that has ended by the next try */
function hasEnded({ pid, exitCode, signalCode }: ChildProcess, { path, cluster, log }: DataFolder): boolean {
  if (pid !== undefined && exitCode === null && signalCode === null) return false;
  const reason = reasonIn(fs.readFileSync(log, 'utf8')).replaceAll(WORKING_DIRECTORY, cluster);
  if (exitCode === 0 || STOPPING.includes(signalCode) || CONFLICT.test(reason)) return true;
  throw new EmbeddedPostgresError(`PostgreSQL does not start in ${path}: ${withRemedy(reason)}; see ${log}`);
}

function settingsOf(parameters: Record<string, string>, cluster: string): string[] {
  const settings = {
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A failed statement is reported only to its client: it may contain secrets.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...parameters,
    // Only the server's account may use the socket, and enter the cluster, where it is.
    listen_addresses: '',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: PORT,
  };
  return [...Object.entries(settings).map(([name, value]) => `${name}=${value}`), processMark(cluster)];
}

/** SIGTERM waits for its sessions, SIGINT ends them, SIGQUIT ends it at once, after which the next start recovers. */
async function stopPostmaster(
  { cluster }: DataFolder,
  pid: number,
  signals: NodeJS.Signals[],
): Promise<void> {
  for (const signal of signals) {
    if (isPostmaster(cluster, pid)) process.kill(pid, signal);
    for (const end = Date.now() + STOP_PATIENCE; Date.now() < end; await sleep(10)) {
      if (!isPostmaster(cluster, pid)) return;
    }
  }
}

/**
 * Owns the server until it stops it, by signals in their order (stopPostmaster). If it dies, it is started again; `lost`
 * resolves if that fails. @throws ServerInUseError if it has another owner
 */
export async function ownServer(server: Server) {
  const { folder, log } = server;
  let connection = await connectAsOwner(server);
  let pid = 0;
  let isStopped = false;
  const keep = async (): Promise<void> => {
    for (;;) {
      pid = pidIn(join(folder.cluster, 'postmaster.pid'));
      // Does not keep the process alive.
      connection.unref();
      await new Promise((resolve) => connection.once('end', resolve));
      if (isStopped) return;
      // After the crash of a session, which ends all of them, PostgreSQL recovers by itself.
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
