import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

const MEBIBYTE = 1_048_576;

/**
 * A command line which mounts a file system of limited size on a folder for the program that follows, and for nobody
 * else: it goes with the program, however that ends. Who is not root needs user namespaces for it, and gets a second one
 * with an ordinary user in it, because PostgreSQL refuses to be run by root.
 */
function onSmallDisk(folder: string, mebibytes: number): string[] {
  const isRoot = process.getuid!() === 0;
  const mount = `mount -t tmpfs -o size=${mebibytes}m,mode=0755 petstore "$0"`;
  const ordinary = isRoot ? '' : 'unshare --user --map-user=1000 --map-group=1000 ';
  const namespaces = [
    ...(isRoot ? [] : ['--user', '--map-root-user']),
    '--mount',
    '--propagation',
    'private',
  ];
  return ['unshare', ...namespaces, 'sh', '-c', `${mount} && exec ${ordinary}"$@"`, folder];
}

/** Why no such file system can be mounted here; undefined when it can. */
function smallDiskRefusal(): string | undefined {
  const [program, ...args] = [...onSmallDisk('/mnt', 1), 'true'];
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

/** Tests that need a small file system. Where none can be mounted they fail in CI, and are skipped elsewhere, which is said. */
export function describeOnSmallDisk(title: string, tests: () => void): void {
  const refusal = smallDiskRefusal();
  if (refusal === undefined) return describe(title, tests);
  const message = `no small file system can be mounted here for the tests of a full disk (${refusal})`;
  if (process.env.CI) {
    it(title, () => {
      throw new Error(message);
    });
  } else {
    process.stderr.write(`SKIPPED: ${message}\n`);
    describe.skip(title, tests);
  }
}

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
    const chunk = Buffer.alloc(MEBIBYTE);
    const ballast = fs.openSync(this.path('ballast'), 'a');
    try {
      // Smaller and smaller, so that not a page of it is left.
      for (let size = MEBIBYTE; size >= 512; ) {
        if (!wrote(ballast, chunk.subarray(0, size))) size /= 2;
      }
    } finally {
      fs.closeSync(ballast);
    }
  }

  free(): void {
    fs.rmSync(this.path('ballast'));
  }
}

function wrote(file: number, bytes: Buffer): boolean {
  try {
    fs.writeSync(file, bytes);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
