import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account';
import { programOf } from './binaries';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import { identify, isAlive, isRunning, pidExists, type ProcessIdentity, commandOf } from './processes';
import { programOptions } from './program';

/** How long a fast and then an immediate shutdown may take, in milliseconds. */
const STOP_PATIENCE = 10_000;

export interface Launch {
  cluster: string;
  account: Account | undefined;
  /** More server settings. */
  parameters: Record<string, string>;
}

/** The content of postmaster.pid. */
export interface Postmaster {
  pid: number;
  /** Undefined shortly after the server starts. */
  port: number | undefined;
  ready: boolean;
}

/**
 * Reads postmaster.pid of a cluster: line 1 is the pid, line 4 the port, line 8 the state
 * (https://www.postgresql.org/docs/18/storage-file-layout.html, src/include/utils/pidfile.h).
 *
 * @returns undefined if it does not exist; a pid of 0 if it is unreadable
 */
export function readPostmasterFile(cluster: string): Postmaster | undefined {
  let text: string;
  try {
    text = readFileSync(join(cluster, 'postmaster.pid'), 'utf8');
  } catch {
    return undefined;
  }
  const lines = text.split('\n').map((line) => line.trim());
  // A server in single-user mode writes its pid as a negative number.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10)) || 0;
  const port = Number.parseInt(lines[3] ?? '', 10);
  return { pid, port: port > 0 ? port : undefined, ready: lines[7] === 'ready' };
}

/**
 * The running server of this cluster, if any.
 *
 * The pid in the file may be stale and belong to another process by now. But the working directory of a server is
 * always its data directory, and that of an unrelated process never is.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const postmaster = readPostmasterFile(cluster);
  return postmaster && isAlive(postmaster.pid) && worksIn(postmaster.pid, cluster) ? postmaster : undefined;
}

/**
 * Removes a postmaster.pid that names a running process that is not a server of this cluster. PostgreSQL checks only
 * whether the pid exists and would never start. If a server was running here after all, PostgreSQL would still detect
 * it by its shared memory, which depends on the folder.
 *
 * @param unreadable whether to remove a file without a pid as well, which a power failure can leave
 */
export function removeStaleFile(cluster: string, unreadable: boolean): void {
  const postmaster = readPostmasterFile(cluster);
  if (!postmaster || findPostmaster(cluster)) return;
  if (postmaster.pid === 0 ? unreadable : pidExists(postmaster.pid)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
  }
}

function worksIn(pid: number, cluster: string): boolean {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    // In a container, root usually lacks the right (CAP_SYS_PTRACE) to read this of another user's process.
  }
  return `${commandOf(pid)} `.includes(` -D ${cluster} `);
}

/**
 * Starts the server in its own session, with its output in the log file. Ctrl-C in the terminal does not reach it, and
 * it survives this process for other users.
 *
 * @param native the folder of the binaries
 * @param port the TCP port on 127.0.0.1
 * @param log the open file that the server writes to
 */
export function launch({ cluster, account, parameters }: Launch, native: string, port: number, log: number) {
  const settings = Object.entries(settingsOf(parameters, port)).flatMap((setting) => [
    '-c',
    setting.join('='),
  ]);
  const child = spawn(programOf(native, 'postgres'), ['-D', cluster, ...settings], {
    ...programOptions(account),
    detached: true,
    stdio: ['ignore', log, log],
  });
  let failure: string | undefined;
  child.once('error', (error) => (failure = messageOf(error)));
  child.unref();
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return { pid: child.pid, hasEnded, failure: () => failure };
}

/** Durability (fsync, synchronous_commit) stays at PostgreSQL's defaults, which are on. */
function settingsOf(parameters: Record<string, string>, port: number): Record<string, string | number> {
  return {
    max_connections: '100',
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A failed statement is reported only to its client: it may contain secrets, and it would fill the log.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...parameters,
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
    log_destination: 'stderr',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
  };
}

/** The process of the server, for `stopLost`. */
export function postmasterIdentity(cluster: string): ProcessIdentity | undefined {
  const postmaster = findPostmaster(cluster);
  return postmaster && identify(postmaster.pid);
}

/**
 * Stops the server of this cluster if one runs. A fast shutdown ends the sessions and writes everything out. If it
 * takes longer than ten seconds, an immediate shutdown follows, after which the next start recovers.
 *
 * @throws EmbeddedPostgresError if it still runs after that
 */
export async function stopPostmaster(cluster: string): Promise<void> {
  // The file disappears a moment before the process does, so the process itself is watched.
  const identity = postmasterIdentity(cluster);
  if (!identity || (await endProcess(identity, 'SIGINT')) || (await endProcess(identity, 'SIGQUIT'))) return;
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${cluster} (pid ${Number.parseInt(identity, 10)}) does not stop; end it`,
  );
}

/** Ends a server whose folder was removed. There is nothing left to write. */
export async function stopLost(identity: ProcessIdentity | undefined): Promise<void> {
  if (identity && isRunning(identity)) await endProcess(identity, 'SIGQUIT');
}

/** @returns whether it has ended in time */
async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  try {
    process.kill(Number.parseInt(identity, 10), signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
  for (const end = Date.now() + STOP_PATIENCE; Date.now() < end; await sleep(10)) {
    if (!isRunning(identity)) return true;
  }
  return false;
}
