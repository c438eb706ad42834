import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account';
import { type DataFolder, FILES, PORT, readPlainFile } from './data-folder';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import { programOf, programOptions } from './binaries';

/** How long a fast and then an immediate shutdown may take, in milliseconds. */
const STOP_PATIENCE = 10_000;

const PID_FILE = 'postmaster.pid';

/** The content of postmaster.pid. */
export interface Postmaster {
  /** 0 if it is unreadable. */
  pid: number;
  isReady: boolean;
}

/**
 * Reads postmaster.pid of a cluster: line 1 is the pid, line 8 the state
 * (https://www.postgresql.org/docs/18/storage-file-layout.html, src/include/utils/pidfile.h).
 *
 * @returns undefined if it does not exist
 */
export function readPostmasterFile(folder: DataFolder): Postmaster | undefined {
  const text = readPlainFile(join(folder.cluster, PID_FILE));
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  return { pid: pidIn(text), isReady: lines[7] === 'ready' };
}

/** Of a lock file of PostgreSQL. A server in single-user mode writes its pid as a negative number. */
function pidIn(text = ''): number {
  return Math.abs(Number.parseInt(text, 10)) || 0;
}

/** The running server of this folder, if any. */
export function findPostmaster(folder: DataFolder): Postmaster | undefined {
  const postmaster = readPostmasterFile(folder);
  return postmaster && isServerOf(folder, postmaster.pid) ? postmaster : undefined;
}

/** The pid may be stale and belong to another process by now, so its command line must name the cluster. */
function isServerOf(folder: DataFolder, pid: number): boolean {
  const command = ` ${commandOf(pid)} `;
  return [' ', '='].some((before) => command.includes(`${before}${folder.shown(FILES.data)} `));
}

/** The command line of a process; empty for one that has ended, even if it is a zombie. */
function commandOf(pid: number): string {
  if (pid === 0) return '';
  try {
    if (process.platform === 'linux') {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    }
    const args = ['-ww', '-o', 'command=', '-p', String(pid)];
    return execFileSync('ps', args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    }).trim();
  } catch {
    return '';
  }
}

/**
 * Removes lock files that name a process which is not the server of this folder. PostgreSQL checks only whether the pid
 * exists, even as a zombie, and might never start. If a server was running here after all, PostgreSQL would still detect
 * it by its shared memory, which depends on the folder.
 *
 * @param unreadable whether to remove a file without a pid as well, which a power failure can leave
 */
export function removeStaleFiles(folder: DataFolder, unreadable: boolean): void {
  for (const name of [PID_FILE, `.s.PGSQL.${PORT}.lock`]) {
    const file = join(folder.cluster, name);
    const text = readPlainFile(file);
    const pid = pidIn(text);
    if (text === undefined || isServerOf(folder, pid) || (pid === 0 && !unreadable)) continue;
    const moved = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      fs.renameSync(file, moved);
      // Another process may have started the server in the meantime.
      if (pidIn(readPlainFile(moved)) !== pid) fs.linkSync(moved, file);
      fs.unlinkSync(moved);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

export interface Launch {
  folder: DataFolder;
  account: Account | undefined;
  /** The folder of the binaries. */
  native: string;
  /** More server settings. */
  parameters: Record<string, string>;
}

/** A server that this process has started. */
export interface Launched {
  pid: number | undefined;
  hasEnded: () => boolean;
  /** What it has written since, which says why it ended; undefined if somebody killed it. */
  output: () => string | undefined;
}

/**
 * Starts the server in its own session, with its output in the log. Ctrl-C in the terminal does not reach it, and it
 * survives this process for other users.
 */
export function launch({ folder, account, native, parameters }: Launch): Launched {
  const log = folder.openLog();
  const { size } = fs.fstatSync(log);
  let failure: string | undefined;
  try {
    const settings = Object.entries(settingsOf(folder, parameters)).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    // The account may not enter the folders above, but needs no path to its working directory.
    const place = account ? '/proc/self/cwd' : folder.shown(FILES.data);
    const child = spawn(programOf(native, 'postgres'), ['-D', place, ...settings], {
      ...programOptions(account, folder.cluster),
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.once('error', (error) => (failure = messageOf(error)));
    child.unref();
    return {
      pid: child.pid,
      hasEnded: () => failure !== undefined || child.exitCode !== null || child.signalCode !== null,
      output: () => {
        if (child.signalCode !== null) return undefined;
        return failure ?? fs.readFileSync(folder.file(FILES.log)).subarray(size).toString();
      },
    };
  } finally {
    fs.closeSync(log);
  }
}

/** Durability (fsync, synchronous_commit) stays at PostgreSQL's defaults, which are on. */
function settingsOf(folder: DataFolder, parameters: Record<string, string>): Record<string, string | number> {
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
    // Only who may enter the cluster, mode 0700, reaches the socket in it.
    listen_addresses: '',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: PORT,
    // Identifies the process, see findPostmaster.
    'embedded.cluster': folder.shown(FILES.data),
  };
}

/**
 * Stops the server. A fast shutdown ends the sessions and writes everything out. If it takes longer than ten seconds,
 * or the folder was removed, an immediate shutdown follows, after which the next start recovers.
 *
 * @throws EmbeddedPostgresError if it still runs after that
 */
export async function stopPostmaster(folder: DataFolder, pid: number): Promise<void> {
  const isThere = fs.existsSync(folder.cluster);
  for (const signal of isThere ? (['SIGINT', 'SIGQUIT'] as const) : (['SIGQUIT'] as const)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
    for (const end = Date.now() + STOP_PATIENCE; Date.now() < end; await sleep(10)) {
      if (commandOf(pid) === '') return;
    }
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${folder.path} (pid ${pid}) does not stop; end it`,
  );
}
