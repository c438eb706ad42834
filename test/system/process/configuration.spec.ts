import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, lchownSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadEnvironmentFile } from '../../../src/settings/environment';
import { complaint, petstore } from '../../support/command-line';
import { until } from '../../support/eventually';
import { WITHOUT_EFFECT } from '../../support/libpq';
import { PROMTOOL, findProgram } from '../../support/programs';
import { RawConnection } from '../../support/raw-http';
import { freePort, listen } from '../../support/ports';
import { type ServiceProcess, useProcesses } from '../../support/service-process';

const { processes, database } = useProcesses();

const SECOND_STORE = 'set PORT to another port, and for a second store DATA_DIR and METRICS_PORT as well';

it('a start that is not possible ends with one line, which shows no password', async () => {
  const nowhere = { DATABASE_URL: 'postgres://user:not-to-be-seen@127.0.0.1:1/store', LOG_LEVEL: 'fatal' };
  for (const [environment, line] of [
    [nowhere, /DATABASE_URL cannot be reached/],
    [{ ...nowhere, WORKERS: '2' }, /WORKERS takes 1 unless REDIS_URL is set .*not "2"/],
    [{ DATA_DIR: '/dev/null', LOG_LEVEL: 'fatal' }, /DATA_DIR: .* in \/dev\/null: .*; choose another folder/],
  ] as const) {
    const outcome = await petstore(['serve'], environment);
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain('not-to-be-seen');
  }
});

it('a start without a usable webhook key makes no client, whose key nobody would see', async () => {
  const environment = { DATA_DIR: processes.folder.make('unusable'), LOG_LEVEL: 'fatal' };
  writeFileSync(join(environment.DATA_DIR, 'webhook.key'), 'short');
  expect(await petstore(['serve'], environment)).toEqual(complaint(1, /webhook\.key does not hold a key/));
  expect((await petstore(['clients', 'list', '--json'], environment)).stdout).toBe('[]\n');
});

it('a port that is taken is reported in one line, also by workers, before a database is created', async () => {
  const DATA_DIR = join(processes.folder.make('taken'), 'store');
  const taken = createServer();
  const port = String(await listen(taken));
  for (const [variable, more, remedy] of [
    ['METRICS_PORT', {}, 'set METRICS_PORT to another port, or to off for no metrics'],
    ['PORT', { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }, SECOND_STORE],
  ] as const) {
    const outcome = await petstore(['serve'], { DATA_DIR, [variable]: port, ...more });
    const line = new RegExp(`port ${port} \\(.*${variable}\\) .*in use by another process; ${remedy}\\.`);
    expect(outcome).toEqual(complaint(1, line));
    expect(existsSync(DATA_DIR)).toBe(false);
  }
  taken.close();
});

describe('a service that may open few files, and whose HOST and METRICS_PORT have several addresses', () => {
  let service: ServiceProcess;
  let metricsPort: number;
  const metrics = (path = '/metrics', options?: RequestInit) =>
    fetch(`http://127.0.0.1:${metricsPort}${path}`, options);

  beforeAll(async () => {
    const lookups = join(processes.folder.make('names'), 'lookups.js');
    // The name has two addresses, as on a system with IPv4 and IPv6. Both are IPv4, because not every machine has IPv6.
    const found = `['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))`;
    writeFileSync(
      lookups,
      `const dns = require('node:dns');
       const of = (options) => (options?.all ? ${found} : ${found}[0]);
       dns.lookup = (name, options, done = options) =>
         options.all ? done(null, of(options)) : done(null, '127.0.0.1', 4);
       dns.promises.lookup = async (name, options) => of(options);`,
    );
    metricsPort = await freePort();
    const { hostname, port, username, password, pathname } = new URL(database.url);
    // Only the variables of libpq that complete the URL have an effect.
    const libpq = {
      PGHOST: decodeURIComponent(hostname),
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: pathname.slice(1),
      ...WITHOUT_EFFECT,
    };
    service = await processes.serve(
      {
        DATABASE_URL: 'postgres://',
        HOST: 'localhost',
        METRICS_PORT: `localhost:${metricsPort}`,
        LOG_LEVEL: 'info',
        NODE_OPTIONS: `--require=${lookups}`,
        ...libpq,
      },
      { launcher: ['sh', '-c', 'ulimit -n 300; exec "$@"', 'sh'] },
    );
  });

  it('listens at one of the addresses, which the log names', async () => {
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const path of ['/health/ready', '/docs', '/openapi.json', '/docs/guides/errors']) {
      expect([path, (await fetch(service.url + path)).status]).toEqual([path, 200]);
    }
    await expect(fetch(service.url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    expect(service.lines.join('\n')).toContain(
      `"Listening on 127.0.0.1 port ${metricsPort} (METRICS_PORT)."`,
    );
  });

  it('says how many connections it accepts, and callers cannot take all', async () => {
    expect(service.lines.join('\n')).toMatch(
      /"At most 120 connections are accepted instead of 15000, and at most 30 sockets are opened to other servers, .*only 300 desc/,
    );
    const { port } = new URL(service.url);
    const connections = Array.from({ length: 400 }, () =>
      connect(Number(port), '127.0.0.1').on('error', () => undefined),
    );
    await Promise.allSettled(connections.map((connection) => once(connection, 'connect')));
    const accepted = async () =>
      Number(/^petstore_http_connections (\d+)$/m.exec(await (await metrics()).text())![1]);
    await until(async () => (await accepted()) === 60);
    connections.forEach((connection) => connection.destroy());
    // Other tests need free connections.
    await until(async () => (await accepted()) < 60);
  });

  it('serves metrics on a port of their own, in the form of Prometheus, and nothing else there', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).not.toBe(200);
    const posted = await metrics('/metrics', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const unknown = await metrics('/pets');
    expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining({ status: 404 })]);
    const http2 = 'GET /metrics HTTP/2.0\r\nHost: shop\r\n\r\n';
    const withoutHost = 'GET /metrics HTTP/1.1\r\n\r\n';
    for (const refused of ['nonsense\r\n\r\n', 'CONNECT shop:443 HTTP/1.1\r\n\r\n', http2, withoutHost]) {
      const raw = await RawConnection.open(metricsPort);
      raw.write('GET /metrics HTTP/1.1\r\nHost: shop\r\nExpect: the-unexpected\r\n\r\n');
      expect((await raw.answer()).status).toBe(200);
      raw.write(refused);
      expect((await raw.answer()).text).toContain('bad_request');
    }
    const answer = await metrics();
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const input = await answer.text();
    expect(input).toMatch(/^process_cpu_seconds_total \d[^]*^petstore_http_connections \d/m);
    // promtool checks that the names of metrics follow the rules of Prometheus.
    const { stderr } = spawnSync(findProgram(PROMTOOL)!, ['check', 'metrics'], { input, encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.startsWith('petstore_'))).toEqual([]);
  });
});

describe('.env', () => {
  /** The setting that the .env file of a folder has, as a process in that folder reads it. */
  function read(folder: string): string | undefined {
    const before = process.cwd();
    process.chdir(folder);
    try {
      loadEnvironmentFile(new Set(['TEST_SETTING']));
      return process.env.TEST_SETTING;
    } finally {
      process.chdir(before);
      delete process.env.TEST_SETTING;
    }
  }

  it('may begin with a byte order mark, and in another encoding ends the start: it never leads to another store', async () => {
    const cwd = processes.folder.make('encodings');
    const file = join(cwd, '.env');
    const text = `\ufeffTEST_SETTING=ä\nDATA_DIR=${join(cwd, 'store')}\n`;
    writeFileSync(file, text);
    expect(read(cwd)).toBe('ä');
    const isNotText = '.env cannot be read: it is not text in UTF-8';
    for (const encoding of ['latin1', 'utf16le'] as const) {
      writeFileSync(file, text, encoding);
      expect(() => read(cwd)).toThrow(isNotText);
    }
    for (const command of ['serve', 'status']) {
      expect(await petstore([command], {}, { cwd })).toEqual(complaint(1, new RegExp(isNotText)));
    }
    expect(existsSync(join(cwd, 'store'))).toBe(false);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;

  asRoot(
    'of somebody else is refused for root, also behind a symbolic link of somebody else (needs root)',
    () => {
      const [own, shared] = [processes.folder.make('of-nobody'), processes.folder.make('shared')];
      writeFileSync(join(own, '.env'), 'TEST_SETTING=read\n');
      symlinkSync(join(own, '.env'), join(shared, '.env'));
      expect(read(shared)).toBe('read');
      const refused =
        '.env cannot be read: the file belongs to another user, and root reads only a file of root';
      lchownSync(join(shared, '.env'), 65_534, 65_534);
      expect(() => read(shared)).toThrow(refused);
      chownSync(join(own, '.env'), 65_534, 65_534);
      expect(() => read(own)).toThrow(refused);
    },
  );

  it('that is no file, leads to none, or has a setting that is not read is refused', () => {
    const [folder, unread, lost] = [
      processes.folder.make('odd'),
      processes.folder.make('unread'),
      processes.folder.make('lost'),
    ];
    execFileSync('mkfifo', [join(folder, '.env')]);
    expect(() => read(folder)).toThrow('.env cannot be read: it is not a regular file');
    symlinkSync(join(lost, 'nowhere'), join(lost, '.env'));
    expect(() => read(lost)).toThrow('.env cannot be read: ENOENT');
    for (const line of ['TEST_SETTING: ä', ' export   TEST_SETTING=ä', 'TEST_SETTING ä']) {
      writeFileSync(join(unread, '.env'), `# TEST_SETTING\n${line}\n`);
      // Node 22 can read the second of these lines, and Node 20 cannot.
      if (parseEnv(line).TEST_SETTING === undefined) {
        expect(() => read(unread)).toThrow('.env cannot be read: write TEST_SETTING=…');
      } else {
        expect(read(unread)).toBe('ä');
      }
    }
    writeFileSync(join(unread, '.env'), '# TEST_SETTING\nTEST_SETTINGS=x\n');
    expect(read(unread)).toBeUndefined();
  });

  it('with a line that is ignored is warned of, but not beside the JSON of an error', async () => {
    const cwd = processes.folder.make('ignored');
    writeFileSync(join(cwd, '.env'), 'TEST_SETTINGS=x\n');
    const [forPeople, forPrograms] = [
      ['clients', 'list'],
      ['clients', 'list', '--json'],
    ].map((command) => petstore(command, {}, { cwd }));
    expect((await forPeople!).stderr).toMatch(
      /^petstore: \.env: .* ignored: line 1\.\npetstore: There is no/,
    );
    expect(JSON.parse((await forPrograms!).stderr)).toMatchObject({ error: { code: 'cannot_start' } });
  });
});
