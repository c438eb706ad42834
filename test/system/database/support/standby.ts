import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { queryOnce } from '../../../support/query-once';
import { freePort } from '../../../support/redis-server';
import { until } from '../../../support/eventually';

/** What belongs to the running primary alone. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot', 'pg_stat_tmp'];
const EMPTY_FOLDERS = ['pg_wal', 'pg_replslot', 'pg_stat_tmp'];

/** A streaming replica of a running PostgreSQL on this machine, from a base backup, with the same binaries and account. */
export class Standby {
  private process: ChildProcess | null = null;

  private constructor(
    readonly url: string,
    private readonly port: number,
    private readonly folder: string,
    private readonly program: string,
    private readonly account: { uid: number; gid: number },
  ) {}

  /**
   * @param primaryUrl where the backup is taken from
   * @param upstreamUrl where the replica finds the primary: the same server, perhaps by way of a proxy
   * @param folder where the replica keeps its data; its parent has to be there, and to be for everybody to enter
   */
  static async start(primaryUrl: string, upstreamUrl: string, folder: string): Promise<Standby> {
    const source = await copyCluster(primaryUrl, folder);
    const account = statSync(source);
    // pg_ctl reads there with which program the server was started; so does this.
    const [, program = ''] = /^(\S+)/.exec(readFileSync(join(source, 'postmaster.opts'), 'utf8')) ?? [];
    const { hostname, port, username, password } = new URL(upstreamUrl);
    const upstream = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
    const settings = [`primary_conninfo = '${upstream}'`, `wal_retrieve_retry_interval = '100ms'`];
    appendFileSync(join(folder, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
    const url = new URL(primaryUrl);
    url.port = String(await freePort());
    const standby = new Standby(url.href, Number(url.port), folder, program, account);
    await standby.start();
    return standby;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const { uid, gid } = this.account;
    const environment = { LC_ALL: 'C', PATH: process.env.PATH };
    this.process = spawn(this.program, ['-D', this.folder, ...options], {
      ...(process.getuid?.() === 0 ? { uid, gid } : {}),
      cwd: '/',
      env: environment,
      stdio: 'ignore',
    });
    await until(() => this.query('SELECT 1').then(Boolean, () => false));
  }

  /** Runs a statement on a connection of its own. */
  query<Row extends object>(sql: string): Promise<Row[]> {
    return queryOnce<Row>(this.url, sql);
  }

  /** Ends the server at once, in the middle of whatever it does. */
  async stop(): Promise<void> {
    const child = this.process;
    this.process = null;
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGQUIT');
      await once(child, 'exit');
    }
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A base backup by hand: the npm packages have no pg_basebackup. Source: PostgreSQL's manual, "Making a Base Backup". */
async function copyCluster(primaryUrl: string, folder: string): Promise<string> {
  const client = new Client({ connectionString: primaryUrl });
  await client.connect();
  try {
    const shown = await client.query<{ data_directory: string }>('SHOW data_directory');
    const source = shown.rows[0]!.data_directory;
    await client.query(`SELECT pg_backup_start('standby', true)`);
    execFileSync('cp', ['-Rp', source, folder]);
    const stopped = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    const { uid, gid } = statSync(source);
    NOT_COPIED.forEach((name) => rmSync(join(folder, name), { recursive: true, force: true }));
    EMPTY_FOLDERS.forEach((name) => mkdirSync(join(folder, name), { mode: 0o700 }));
    writeFileSync(join(folder, 'backup_label'), stopped.rows[0]!.labelfile);
    writeFileSync(join(folder, 'standby.signal'), '');
    for (const name of [...EMPTY_FOLDERS, 'backup_label', 'standby.signal']) {
      chownSync(join(folder, name), uid, gid);
    }
    return source;
  } finally {
    await client.end();
  }
}
