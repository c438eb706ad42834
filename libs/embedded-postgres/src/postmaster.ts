import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account';
import { type DataFolder, FILES } from './data-folder';
import { EmbeddedPostgresError, messageOf } from './errors';
import { serverSettings } from './options';
import { programsOf } from './package';
import { findPostmaster, readPostmasterFile } from './postmaster-file';
import { identify, isRunning, type ProcessIdentity } from './process-identity';
import { programOptions } from './program';

/** How long a fast and then an immediate shutdown may take, in milliseconds. */
const STOP_PATIENCE = 10_000;

/** A server which was told to start; it need not be ready yet. */
export interface Launched {
  pid: number | undefined;
  /** Whether the process has ended or could not be started at all. */
  hasEnded: () => boolean;
  /** Why the process could not be started at all. */
  failure: () => string | undefined;
}

export interface LaunchOptions {
  folder: DataFolder;
  cluster: string;
  /** The folder with bin, lib and share. */
  native: string;
  account: Account | undefined;
  parameters: Record<string, string>;
  /** TCP port on 127.0.0.1. */
  port: number;
}

/**
 * Starts the server in a session of its own, writing to the log file: Ctrl-C in the terminal does not reach
 * it, and it outlives this process for the sake of others who use it.
 */
export async function launch(options: LaunchOptions): Promise<Launched> {
  return process.platform === 'win32' ? launchOnWindows(options) : launchDirectly(options);
}

function launchDirectly(options: LaunchOptions): Launched {
  const { folder, cluster, native, account } = options;
  const args = serverSettings(options.parameters, options.port).flatMap((setting) => ['-c', setting]);
  const log = folder.openToAppend(FILES.log);
  try {
    const child = spawn(programsOf(native).postgres, ['-D', cluster, ...args], {
      ...programOptions(account),
      detached: true,
      stdio: ['ignore', log, log],
    });
    let failure: string | undefined;
    child.once('error', (error) => (failure = messageOf(error)));
    child.unref();
    const hasEnded = (): boolean => !!failure || child.exitCode !== null || child.signalCode !== null;
    return { pid: child.pid, hasEnded, failure: () => failure };
  } finally {
    closeSync(log);
  }
}

/** The server refuses administrators there, and only pg_ctl knows how to give up these rights. */
async function launchOnWindows({
  folder,
  cluster,
  native,
  parameters,
  port,
}: LaunchOptions): Promise<Launched> {
  const settings = serverSettings(parameters, port).map((setting) => `-c "${setting}"`);
  const args = [
    'start',
    '-w',
    '-t',
    '60',
    '-D',
    cluster,
    '-l',
    folder.file(FILES.log),
    '-o',
    settings.join(' '),
  ];
  const failure = await runPgCtl(native, args);
  const hasEnded = (): boolean => !findPostmaster(cluster);
  return { pid: readPostmasterFile(cluster)?.pid, hasEnded, failure: () => failure };
}

/** Nothing of its output is read: the server would inherit the pipe and keep it open. */
async function runPgCtl(native: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(programsOf(native).pgCtl, args, { ...programOptions(undefined), stdio: 'ignore' });
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('exit', (status) => resolve(status ? `pg_ctl ended with status ${status}` : undefined));
  });
}

/**
 * Stops the server of this cluster, if one runs: fast, which ends the sessions of clients and writes
 * everything out; if that is not done within ten seconds at once, after which the next start recovers.
 *
 * @param native the folder of the binaries, needed on Windows only
 * @throws EmbeddedPostgresError when it still runs after that
 */
export async function stopPostmaster(cluster: string, native: string): Promise<void> {
  const postmaster = findPostmaster(cluster);
  if (!postmaster) return;
  // The file disappears a moment before the process does, so the process itself is watched.
  const identity = identify(postmaster.pid);
  for (const [signal, mode] of [['SIGINT', 'fast'] as const, ['SIGQUIT', 'immediate'] as const]) {
    if (process.platform === 'win32') await runPgCtl(native, ['stop', '-D', cluster, '-m', mode, '-W']);
    else signalProcess(postmaster.pid, signal);
    for (const end = Date.now() + STOP_PATIENCE; Date.now() < end; await sleep(10)) {
      if (!isRunning(identity)) return;
    }
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${cluster} (pid ${postmaster.pid}) does not stop; end it`,
  );
}

/** The process of the server, for `stopLost`. */
export function postmasterIdentity(cluster: string): ProcessIdentity | undefined {
  const postmaster = findPostmaster(cluster);
  return postmaster && identify(postmaster.pid);
}

/** Ends a server whose folder was removed under it. There is nothing left to write out. */
export async function stopLost(identity: ProcessIdentity | undefined): Promise<void> {
  if (!identity || !isRunning(identity)) return;
  signalProcess(Number.parseInt(identity, 10), process.platform === 'win32' ? 'SIGKILL' : 'SIGQUIT');
  for (const end = Date.now() + STOP_PATIENCE; Date.now() < end && isRunning(identity); ) await sleep(10);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
