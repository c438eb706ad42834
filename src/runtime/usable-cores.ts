import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Where Linux reports the CPU limit of a container (control groups, version 2). */
const CPU_MAX = '/sys/fs/cgroup/cpu.max';

/**
 * Cores that this process may use: those of the machine, or fewer in a container with a CPU limit; at least 1.
 * @param cores the cores of the machine
 * @param limit the text of `cpu.max`: microseconds of CPU time (or `max`) in a period of microseconds
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
