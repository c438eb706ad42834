import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, lchownSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadEnvironmentFile } from '../../../src/runtime/environment';
import { eventually, listen } from '../../support/eventually';
import { RedisServer, freePort } from '../../support/redis-server';
import { complaint, petstore } from '../../support/command-line';
import { WITHOUT_EFFECT } from '../../support/libpq';
import { useProcesses } from '../../support/service-process';

const { processes, database } = useProcesses();
let redis: RedisServer;

const SECOND_STORE = 'set PORT to another port, and for a second store DATA_DIR and METRICS_PORT as well';

beforeAll(async () => void (redis = await RedisServer.start()));
afterAll(() => redis.close());

it('a start that is not possible ends with one line, which shows no password', async () => {
  const nowhere = { DATABASE_URL: 'postgres://user:not-to-be-seen@127.0.0.1:1/store', LOG_LEVEL: 'fatal' };
  for (const [environment, line] of [
    [nowhere, /DATABASE_URL cannot be reached/],
    [{ ...nowhere, WORKERS: '2' }, /WORKERS takes 1 unless REDIS_URL is set .*not "2"/],
  ] as const) {
    const outcome = await petstore(['serve'], environment);
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain('not-to-be-seen');
  }
});

it('a port that is taken is reported in one line, also by workers, before a database is created', async () => {
  const DATA_DIR = join(processes.folder('taken'), 'store');
  const taken = createServer();
  const port = String(await listen(taken));
  for (const [variable, more, remedy] of [
    ['METRICS_PORT', {}, 'set METRICS_PORT to another port, or to off for no metrics'],
    ['PORT', { WORKERS: '2', REDIS_URL: redis.url }, SECOND_STORE],
  ] as const) {
    const outcome = await petstore(['serve'], { DATA_DIR, [variable]: port, ...more });
    const line = new RegExp(`port ${port} \\(.*${variable}\\) .*in use by another process; ${remedy}\\.`);
    expect(outcome).toEqual(complaint(1, line));
    expect(existsSync(DATA_DIR)).toBe(false);
  }
  taken.close();
});

it('a HOST or METRICS_PORT with several addresses is listened on at one of them, which the log names; where a process may have few descriptors, callers cannot take all, and the start says how many connections are accepted; of the variables of libpq only those count that complete the URL', async () => {
  const lookups = join(processes.folder('names'), 'lookups.js');
  // Both have the form of a system with IPv4 and IPv6, which not every machine has.
  const found = `['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))`;
  writeFileSync(
    lookups,
    `const dns = require('node:dns');
     const of = (options) => (options?.all ? ${found} : ${found}[0]);
     dns.lookup = (name, options, done = options) =>
       options.all ? done(null, of(options)) : done(null, '127.0.0.1', 4);
     dns.promises.lookup = async (name, options) => of(options);`,
  );
  const NODE_OPTIONS = `--require=${lookups}`;
  const metricsPort = await freePort();
  const METRICS_PORT = `localhost:${metricsPort}`;
  const { hostname, port: databasePort, username, password, pathname } = new URL(database.url);
  const libpq = {
    PGHOST: decodeURIComponent(hostname),
    PGPORT: databasePort,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
    ...WITHOUT_EFFECT,
  };
  const settings = { DATABASE_URL: 'postgres://', HOST: 'localhost', METRICS_PORT, LOG_LEVEL: 'info' };
  const service = await processes.serve(
    { ...settings, ...libpq, NODE_OPTIONS },
    { within: ['sh', '-c', 'ulimit -n 300; exec "$@"', 'sh'] },
  );
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  await expect(fetch(service.url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  expect(service.log.join('\n')).toContain(`"Listening on 127.0.0.1 port ${metricsPort} (METRICS_PORT)."`);

  expect(service.log.join('\n')).toMatch(
    /"At most 120 connections are accepted instead of 15000, and webhooks get at most 30 of 5000 sockets, .*only 300 desc/,
  );
  const { port } = new URL(service.url);
  const connections = Array.from({ length: 400 }, () =>
    connect(Number(port), '127.0.0.1').on('error', () => undefined),
  );
  await Promise.allSettled(connections.map((connection) => once(connection, 'connect')));
  await eventually(async () => {
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(await metrics.text()).toMatch(/^petstore_http_connections 60$/m);
  });
  connections.forEach((connection) => connection.destroy());
});

describe('.env', () => {
  it('is read from the working directory, and the environment wins; other names are ignored with a warning, also in worker processes', async () => {
    const cwd = processes.folder('hostile');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(join(cwd, 'ran'))}, '')`;
    writeFileSync(join(cwd, 'code.js'), code);
    writeFileSync(
      join(cwd, '.env'),
      `NODE_OPTIONS=--require=${cwd}/code.js\nWORKERS=2\nREDIS_URL=${redis.url.replace('//', '//:unneeded@')}\nPATH=${cwd}\nDATABASE_URL=${database.url}\nLOG_LEVEL=loud\n`,
    );
    const service = await processes.serve({ LOG_LEVEL: 'warn' }, { cwd });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe(
      'petstore: .env: lines that set no setting of the service are ignored: line 1, line 4.\n',
    );
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
    // What the driver of Redis prints is in the log.
    expect(service.stdout).not.toMatch(/^(Skipping|\[WARN\])/m);
    expect(service.log.filter((line) => line.includes('does not require a password'))).not.toEqual([]);
  });

  /** What the file in a folder sets, read as a process in that folder does. */
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
    const cwd = processes.folder('encodings');
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
      const [own, shared] = [processes.folder('of-nobody'), processes.folder('shared')];
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
      processes.folder('odd'),
      processes.folder('unread'),
      processes.folder('lost'),
    ];
    execFileSync('mkfifo', [join(folder, '.env')]);
    expect(() => read(folder)).toThrow('.env cannot be read: it is not a regular file');
    symlinkSync(join(lost, 'nowhere'), join(lost, '.env'));
    expect(() => read(lost)).toThrow('.env cannot be read: ENOENT');
    for (const line of ['TEST_SETTING: ä', ' export   TEST_SETTING=ä', 'TEST_SETTING ä']) {
      writeFileSync(join(unread, '.env'), `# TEST_SETTING\n${line}\n`);
      // Node 22 reads the second of these lines, and Node 20 does not.
      if (parseEnv(line).TEST_SETTING === undefined) {
        expect(() => read(unread)).toThrow('.env cannot be read: write TEST_SETTING=…');
      } else {
        expect(read(unread)).toBe('ä');
      }
    }
    writeFileSync(join(unread, '.env'), '# TEST_SETTING\nTEST_SETTINGS=x\n');
    expect(read(unread)).toBeUndefined();
  });
});
