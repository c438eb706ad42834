import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { announce, seedFirstRun } from '../../../src/runtime/serve';
import { eventually } from '../../support/eventually';
import { useService } from '../../support/use-service';

// What a service writes goes to the log of the one that was started last, so each has tests of its own.

describe('A service with a database', () => {
  const service = useService();

  test('A ready service reports its checks, without a key and uncounted', async () => {
    const answer = await service.anonymous().get<object>('/health/ready');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'ok',
      details: {
        database: { status: 'up' },
        migrations: { status: 'up' },
        limits: { status: 'up', degraded: false },
      },
    });
    expect(answer.headers.get('x-ratelimit-remaining')).toBeNull();
  });

  test('A database that refuses to write makes it unready, and leads to new connections until one can write', async () => {
    const { pool, url } = service.database;
    const ready = () => service.anonymous().get<object>('/health/ready');
    const name = new URL(url).pathname.slice(1);
    await pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await eventually(async () => {
      expect((await ready()).status).toBe(503);
      const reason = 'Not ready: database (it is read-only).';
      expect(service.log.lines).toContainEqual(expect.objectContaining({ reason }));
    });
    await pool.query(
      `SET default_transaction_read_only = off; ALTER DATABASE ${name} RESET default_transaction_read_only`,
    );
    await eventually(async () => expect((await ready()).status).toBe(200));
  });

  async function announced(isTTY: boolean): Promise<string> {
    let text = '';
    const output = { isTTY, write: (line: string) => (text += line) !== '' };
    announce({ host: '127.0.0.1', port: service.port }, await seedFirstRun(service.app, output), output);
    return text;
  }

  test('A first start on a terminal prints a key once, and a command that works', async () => {
    const text = await announced(true);
    expect(text.match(/^ {2}psk_live_\w{36}$/gm)).toHaveLength(1);
    const [command] = /^ +curl .+$/m.exec(text)!;
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent --show-error`]);
    const [head = '', body = ''] = stdout.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(JSON.parse(body)).toHaveLength(3);
    expect(await announced(true)).not.toContain('psk_live_');
  });
});

describe('A database without the migrations of this version', () => {
  const other = useService();

  it('makes the service unready until they are applied; the log names the missing ones', async () => {
    const { pool } = other.database;
    const ready = () => other.anonymous().get<object>('/health/ready');
    await pool.query(`UPDATE schema_migrations SET name = name || '!' WHERE name LIKE 'Schema%'`);
    const refused = await ready();
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(other.log.lines).toContainEqual(
      expect.objectContaining({
        reason: expect.stringMatching(/^Not ready: migrations \(.*Schema1797000000000/) as string,
      }),
    );

    await pool.query(`UPDATE schema_migrations SET name = rtrim(name, '!')`);
    await eventually(async () => expect((await ready()).status).toBe(200));
  });

  it('makes the service unready too if it is replaced by an empty one, and requests are answered with 503', async () => {
    const caller = await other.caller();
    const status = async (path: string) => (await caller.get(path)).status;
    const { pool } = other.database;
    await pool.query('ALTER SCHEMA public RENAME TO away; CREATE SCHEMA public');
    await eventually(async () => expect(await status('/health/ready')).toBe(503));
    expect(await status('/pets')).toBe(503);
    await pool.query('DROP SCHEMA public; ALTER SCHEMA away RENAME TO public');
    await eventually(async () => expect(await status('/health/ready')).toBe(200));
    expect(await status('/pets')).toBe(200);
  });
});
