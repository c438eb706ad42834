import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './eventually';
import { PGBOUNCER, findProgram } from './programs';
import { query } from './query';
import { freePort } from './redis-server';
import { TcpProxy } from './tcp-proxy';

const PAGE = join(__dirname, '../../docs/operations/database.md');
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

/** `bare` is transaction mode without the settings that the page recommends for it. */
export type PoolMode = 'session' | 'transaction' | 'bare';

/** A real PgBouncer with the documented configuration, in front of a database. */
export class PgBouncer {
  private output = '';

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly server: TcpProxy,
  ) {
    child.stderr!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  static async start(databaseUrl: string, mode: PoolMode): Promise<PgBouncer> {
    // The server of the tests has only a Unix socket, which PgBouncer's user may not enter.
    const server = await TcpProxy.start(databaseUrl);
    const { port, username, password, pathname } = new URL(server.url);
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${await freePort()}`;
    const [, documented = ''] = /^```ini\n(.+?)^```$/ms.exec(await readFile(PAGE, 'utf8'))!;
    const configuration = documented
      .replace(
        'petstore = host=127.0.0.1 port=5432 dbname=petstore',
        (target) =>
          `${pathname.slice(1)} = ${target.slice('petstore = '.length).replace('5432', port).replace('dbname=petstore', '')} user=${username} password=${password}`,
      )
      .replace('6432', url.port)
      .replace(/auth_type = .+\nauth_file = .+/, 'auth_type = any')
      .replace('pool_mode = transaction', `pool_mode = ${mode === 'session' ? mode : 'transaction'}`)
      .replace(mode === 'bare' ? / connect_query='[^']+'/ : '', '');
    const folder = await mkdtemp(join(tmpdir(), 'petstore-pgbouncer-'));
    await chmod(folder, 0o755);
    const file = join(folder, 'pgbouncer.ini');
    await writeFile(file, configuration);
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const child = spawn(findProgram(PGBOUNCER)!, [file], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    const bouncer = new PgBouncer(url.href, child, folder, server);
    await until(() =>
      query(url.href, 'SELECT 1').then(
        () => true,
        () => false,
      ),
    ).catch(() => {
      throw new Error(`PgBouncer does not answer: ${bouncer.output}`);
    });
    return bouncer;
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
    await this.server.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
