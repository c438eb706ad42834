import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Where Linux tells how much processor time a container may use (control groups, version 2). */
const CPU_MAX = '/sys/fs/cgroup/cpu.max';

/**
 * Cores that this process may keep busy: those it may run on, or fewer where a container has a CPU limit; at least 1.
 * @param cores how many it may run on
 * @param limit the text of `cpu.max`: microseconds of processor time (or `max`) in a period of microseconds
 */
export function usableCores(cores = availableParallelism(), limit = readLimit()): number {
  const [time = 'max', period = ''] = limit.trim().split(' ');
  const limited = time === 'max' ? Infinity : Math.floor(Number(time) / Number(period));
  return Math.max(1, Math.min(cores, limited || 1));
}

function readLimit(): string {
  try {
    return readFileSync(CPU_MAX, 'utf8');
  } catch {
    return 'max';
  }
}
