import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

const MEBIBYTE = 1_048_576;

/**
 * A command line which mounts a file system of limited size on a folder for the program that follows, and for nobody
 * else: it goes with the program, however that ends.
 */
function onSmallDisk(folder: string, mebibytes: number): string[] {
  const mount = `mount -t tmpfs -o size=${mebibytes}m,mode=0755 petstore "$0" && exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mount, folder];
}

const [program, ...args] = [...onSmallDisk('/mnt', 1), 'true'];

/** For tests that need a small file system, which only root can mount, and not in every container. */
export const itOnSmallDisk = spawnSync(program!, args).status === 0 ? it : it.skip;

/** A file system of limited size for one process, which can be filled to the last byte and be freed again. */
export class SmallDisk {
  private pid: number | undefined;

  constructor(
    private readonly folder: string,
    private readonly mebibytes: number,
  ) {}

  get within(): string[] {
    return onSmallDisk(this.folder, this.mebibytes);
  }

  /** From now on the file system is looked at as this process sees it. */
  seenBy(pid: number): void {
    this.pid = pid;
  }

  /** Where others find what the process has in the folder. */
  path(...names: string[]): string {
    return join(`/proc/${this.pid}/root`, this.folder, ...names);
  }

  fill(): void {
    const ballast = fs.openSync(this.path('ballast'), 'a');
    // Smaller and smaller, so that not a page of it is left.
    for (let size = MEBIBYTE; size >= 512; ) {
      if (!wrote(ballast, Buffer.alloc(size))) size /= 2;
    }
    fs.closeSync(ballast);
  }

  free(): void {
    fs.rmSync(this.path('ballast'));
  }
}

function wrote(file: number, bytes: Buffer): boolean {
  try {
    return fs.writeSync(file, bytes) > 0;
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
    return false;
  }
}
