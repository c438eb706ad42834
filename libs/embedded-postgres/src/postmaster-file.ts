import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from './process-identity';

/** What the server says about itself in postmaster.pid. */
export interface Postmaster {
  pid: number;
  /** Undefined in the first moments of a server. */
  port: number | undefined;
  ready: boolean;
}

/**
 * Reads postmaster.pid of a cluster: line 1 is the pid, line 4 the port, line 8 the state
 * (https://www.postgresql.org/docs/18/storage-file-layout.html, src/include/utils/pidfile.h).
 *
 * @returns undefined where there is none; a pid of 0 for one which cannot be understood
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
 * The server which runs on this cluster, if any.
 *
 * The pid in the file may be stale and belong to another process by now. A server never leaves its data
 * directory as the working directory, which no unrelated process has.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const postmaster = readPostmasterFile(cluster);
  return postmaster && isAlive(postmaster.pid) && worksIn(postmaster.pid, cluster) ? postmaster : undefined;
}

/**
 * Removes a postmaster.pid which names a living process that is no server of this cluster: PostgreSQL looks
 * only whether the pid lives and would never start. A server that did run here nevertheless would still be
 * found by its shared memory, which PostgreSQL derives from the folder.
 *
 * @param unreadable whether to remove one without a pid as well, which a power failure can leave
 */
export function removeStaleFile(cluster: string, unreadable: boolean): void {
  const postmaster = readPostmasterFile(cluster);
  if (!postmaster || findPostmaster(cluster)) return;
  if (postmaster.pid === 0 ? unreadable : pidExists(postmaster.pid)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
  }
}

/** Unlike `isAlive`, counts a zombie, as PostgreSQL does. */
function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function worksIn(pid: number, cluster: string): boolean {
  try {
    if (process.platform === 'linux') return worksInOnLinux(pid, cluster);
    // PostgreSQL itself knows on Windows whether a pid is a server's: only these have its signal pipe.
    if (process.platform === 'win32') return existsSync(`\\\\.\\pipe\\pgsignal_${pid}`);
    const env = { ...process.env, LC_ALL: 'C' };
    const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      env,
    });
    return command.includes('postgres') && command.includes(cluster);
  } catch {
    return false;
  }
}

/**
 * In a container, root mostly lacks the right (CAP_SYS_PTRACE) to see the working directory of another user's
 * process. Its command line is open to everybody, and the server was started with its data directory in it.
 */
function worksInOnLinux(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.includes('postgres') && args.includes(cluster);
  }
}
