import { readFile, readdir } from 'node:fs/promises';

/** The number of open file descriptors (connections, files) of a process, and its limit. */
export interface OpenDescriptors {
  open: number;
  limit: number;
}

/** For this process. Undefined on systems without /proc (all but Linux). */
export async function openDescriptors(): Promise<OpenDescriptors | undefined> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    const { length: open } = await readdir('/proc/self/fd');
    return { open, limit };
  } catch (error) {
    // Without a free descriptor these files cannot be opened either.
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? { open: 1, limit: 1 } : undefined;
  }
}
