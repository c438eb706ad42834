import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process as `<pid>.<start>`, fit for a file name. A pid alone is given again to other processes, above
 * all after a reboot or in a restarted container; together with the start of the process it is not.
 */
export type ProcessIdentity = string;

const UNKNOWN = 'unknown';
let own: ProcessIdentity | undefined;

/** This process. */
export function ownProcess(): ProcessIdentity {
  own ??= `${process.pid}.${process.platform === 'win32' ? ownStartOnWindows() : startOf(process.pid)}`;
  return own;
}

/** The process which has this pid now. */
export function identify(pid: number): ProcessIdentity {
  return pid === process.pid ? ownProcess() : `${pid}.${startOf(pid)}`;
}

/** Whether exactly this process still runs. Where its start cannot be learnt, a living pid is enough. */
export function isRunning(identity: ProcessIdentity): boolean {
  const [pid = '', start = UNKNOWN] = identity.split('.');
  if (Number(pid) === process.pid) return sameStart(start, ownProcess().split('.')[1] ?? UNKNOWN);
  return isAlive(Number(pid)) && sameStart(start, startOf(Number(pid)));
}

/** Whether a process with this pid runs. A zombie, dead but not yet waited for, does not run. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Only "no such process" says that it is gone: EPERM is a living process of another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return process.platform !== 'linux' || !/^[ZX]$/.test(linuxStat(pid)?.state ?? '');
}

function sameStart(one: string, other: string): boolean {
  if (one === UNKNOWN || other === UNKNOWN || one === other) return true;
  // Linux counts exactly; elsewhere the start is a rounded clock time in seconds.
  return process.platform !== 'linux' && Math.abs(Number(one) - Number(other)) <= 2;
}

function startOf(pid: number): string {
  try {
    if (process.platform === 'linux') return linuxStart(pid);
    if (process.platform === 'win32') return windowsStart(pid);
    const text = ask('ps', ['-o', 'lstart=', '-p', String(pid)]);
    const seconds = Math.floor(Date.parse(text) / 1000);
    return Number.isFinite(seconds) ? String(seconds) : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

function linuxStart(pid: number): string {
  const stat = linuxStat(pid);
  if (!stat) return UNKNOWN;
  // The start is counted in ticks since boot, so it needs the boot beside it.
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  return `${boot}-${stat.start}`;
}

function linuxStat(pid: number): { state: string; start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, which may itself hold blanks and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function windowsStart(pid: number): string {
  const script = `([DateTimeOffset](Get-Process -Id ${pid}).StartTime).ToUnixTimeSeconds()`;
  return /^\d+$/.exec(ask('powershell.exe', ['-NoProfile', '-Command', script]))?.[0] ?? UNKNOWN;
}

function ownStartOnWindows(): string {
  return String(Math.floor(Date.now() / 1000 - process.uptime()));
}

function ask(program: string, args: string[]): string {
  const env = { ...process.env, LC_ALL: 'C' };
  return execFileSync(program, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
