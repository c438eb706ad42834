import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process as `<pid>.<start>`, valid in a file name. Pids are reused, especially after a reboot or in a restarted
 * container; together with the start of the process they are unique.
 */
export type ProcessIdentity = string;

const UNKNOWN = 'unknown';
let own: ProcessIdentity | undefined;

/** This process. */
export function ownProcess(): ProcessIdentity {
  return (own ??= `${process.pid}.${startOf(process.pid)}`);
}

/** The process that currently has this pid. */
export function identify(pid: number): ProcessIdentity {
  return pid === process.pid ? ownProcess() : `${pid}.${startOf(pid)}`;
}

/** Whether exactly this process is running. If its start cannot be read, an existing pid is enough. */
export function isRunning(identity: ProcessIdentity): boolean {
  const [pid, start] = identity.split('.');
  if (!isAlive(Number(pid))) return false;
  const startNow = identify(Number(pid)).split('.')[1];
  return start === startNow || start === UNKNOWN || startNow === UNKNOWN;
}

/** Whether a process with this pid is running. A zombie, dead but not yet reaped, is not. */
export function isAlive(pid: number): boolean {
  return pidExists(pid) && !/^[ZX]$/.test(linuxStat(pid)?.state ?? '');
}

/** Unlike `isAlive`, counts a zombie, as PostgreSQL does. */
export function pidExists(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM is a living process of another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function startOf(pid: number): string {
  try {
    if (process.platform !== 'linux') return ps('lstart', pid).replace(/\W/g, '') || UNKNOWN;
    // The start is counted in ticks since boot, so the boot id is needed, too.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const stat = linuxStat(pid);
    return stat ? `${boot}-${stat.start}` : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

function linuxStat(pid: number): { state: string; start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** The command line of a process; empty where it cannot be read. */
export function commandOf(pid: number): string {
  try {
    if (process.platform !== 'linux') return ps('command', pid);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** A field of a process on systems without /proc. */
function ps(field: string, pid: number): string {
  const env = { ...process.env, LC_ALL: 'C' };
  return execFileSync('ps', ['-ww', '-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8', env }).trim();
}
