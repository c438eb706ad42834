import { execFileSync } from 'node:child_process';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { Bench, embeddedUrl, killPostmaster, postmasterPid } from '../../../support/embedded-postgres-bench';
import { query } from '../../../support/query';

/** A PostgreSQL of a test's own, which may be stopped, killed and paused, and comes back at the same address. */
export class FaultyPostgres {
  private readonly paused = new Set<number>();

  private constructor(
    private readonly bench: Bench,
    private server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<FaultyPostgres> {
    const bench = new Bench();
    return new FaultyPostgres(bench, await startServer(bench));
  }

  get url(): string {
    return embeddedUrl(this.bench.path('store'), 'store');
  }

  /** Ends every session and the server, as an operator's `restart` begins. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  async start(): Promise<void> {
    this.server = await startServer(this.bench);
  }

  /** What a crash of the machine, or a lack of memory, does to the server. */
  async kill(): Promise<void> {
    await killPostmaster(this.cluster);
    await this.server.stop();
  }

  /** Nothing of the server runs on; its connections stay, and the system still accepts new ones on its behalf. */
  pause(): void {
    const postmaster = postmasterPid(this.cluster)!;
    // The server itself first, or it would start others in place of those that are paused already.
    this.halt(postmaster);
    childrenOf(postmaster).forEach((pid) => this.halt(pid));
  }

  terminateSessions(): Promise<unknown> {
    return this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
    );
  }

  resume(): void {
    // The server itself last, or it would meanwhile forget sessions that have ended.
    for (const pid of [...this.paused].reverse()) {
      process.kill(pid, 'SIGCONT');
    }
    this.paused.clear();
  }

  query<Row extends object>(sql: string): Promise<Row[]> {
    return query<Row>(this.url, sql);
  }

  async close(): Promise<void> {
    this.resume();
    await this.server.stop();
    await this.bench.clear();
  }

  private get cluster(): string {
    return this.bench.path('store', 'data');
  }

  private halt(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    this.paused.add(pid);
  }
}

function startServer(bench: Bench): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDirectory: bench.path('store'), database: 'store' });
}

/** Each of them leads a session of its own, so that no signal to a group would reach them. */
function childrenOf(parent: number): number[] {
  const pids = execFileSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' });
  return pids.trim().split('\n').map(Number);
}
