import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, lchownSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { settingNames } from '../../../src/settings';
import { RedisServer } from '../../support/redis-server';
import { complaint, petstore } from '../../support/command-line';
import { useProcesses } from '../../support/service-process';

const { bench, database } = useProcesses();
let redis: RedisServer;

beforeAll(async () => void (redis = await RedisServer.start()));
afterAll(() => redis.close());

it('a start that is not possible ends with one line, which shows no password', async () => {
  const nowhere = { DATABASE_URL: 'postgres://user:not-to-be-seen@127.0.0.1:1/store' };
  for (const [environment, line] of [
    [{ ...nowhere, PORT: 'http' }, /PORT takes a whole number from 0 to 65535, not "http"/],
    [nowhere, /DATABASE_URL cannot be reached/],
    [{ ...nowhere, WORKERS: '2' }, /WORKERS takes more than 1 only with REDIS_URL, .*not "2"/],
  ] as const) {
    const outcome = await petstore(['serve'], { LOG_LEVEL: 'fatal', ...environment });
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain('not-to-be-seen');
  }
});

it.each([
  ['-cnosuch%3D1', /unrecognized configuration parameter "nosuch"/],
  ['-cwork_mem%3Dabc', /invalid value for parameter "work_mem": "abc"/],
  ['-cwork_mem', /-c work_mem requires a value/],
])(
  'options in DATABASE_URL that the database refuses end a start or a command with one line: %s',
  async (options, line) => {
    const DATABASE_URL = `${database.url}?options=${options}`;
    const refused = complaint(1, new RegExp(`database of DATABASE_URL cannot be used: ${line.source}`));
    for (const command of ['serve', 'clients list', 'db status']) {
      expect(await petstore(command.split(' '), { LOG_LEVEL: 'fatal', DATABASE_URL })).toEqual(refused);
    }
  },
);

it('a port that is taken is reported in one line, also by workers, before a database is created', async () => {
  const DATA_DIR = join(bench.folder('taken'), 'store');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  for (const [variable, more] of [
    ['PORT', {}],
    ['METRICS_PORT', {}],
    ['PORT', { WORKERS: '2', REDIS_URL: redis.url }],
  ] as const) {
    const outcome = await petstore(['serve'], { DATA_DIR, [variable]: port, ...more });
    const remedy = variable === 'METRICS_PORT' ? 'choose another, or off for no metrics' : 'choose another';
    const line = new RegExp(`port ${port} \\(.*${variable}\\) .*in use by another process; ${remedy}\\.`);
    expect(outcome).toEqual(complaint(1, line));
    expect(existsSync(DATA_DIR)).toBe(false);
  }
  taken.close();
});

describe('.env', () => {
  it('is read from the working directory, and the environment wins; other names are ignored with a warning, also in worker processes', async () => {
    const cwd = bench.folder('hostile');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(join(cwd, 'ran'))}, '')`;
    writeFileSync(join(cwd, 'code.js'), code);
    writeFileSync(
      join(cwd, '.env'),
      `NODE_OPTIONS=--require=${cwd}/code.js\nWORKERS=2\nREDIS_URL=${redis.url}\nPATH=${cwd}\nDATABASE_URL=${database.url}\nLOG_LEVEL=loud\n`,
    );
    const service = await bench.serve({ LOG_LEVEL: 'error' }, { cwd });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe(
      'petstore: .env: ignored, because they are no settings: NODE_OPTIONS, PATH.\n',
    );
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  it('may begin with a byte order mark, and in another encoding ends the start: it never leads to another store', async () => {
    const cwd = bench.folder('encodings');
    const file = join(cwd, '.env');
    const text = `DATABASE_URL=${database.url.replace(/:[^:@]*@/, ':wrong@')}\nDATA_DIR=${join(cwd, 'store')}\n`;
    writeFileSync(file, `\ufeff${text}`);
    expect(await petstore(['clients', 'list'], {}, { cwd })).toEqual(
      complaint(1, /DATABASE_URL cannot be used: password authentication failed/),
    );
    const others = [
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(text, 'utf16le'),
      Buffer.from('HOST=\xe4', 'latin1'),
    ];
    for (const bytes of others) {
      writeFileSync(file, bytes);
      for (const command of ['serve', 'status']) {
        const outcome = await petstore([command], {}, { cwd });
        expect(outcome).toEqual(complaint(1, /\.env cannot be read: it is not text in UTF-8/));
      }
    }
    expect(existsSync(join(cwd, 'store'))).toBe(false);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;

  asRoot('of somebody else is refused for root, also behind a symbolic link of somebody else', async () => {
    const [cwd, shared] = [bench.folder('of-nobody'), bench.folder('shared')];
    writeFileSync(join(cwd, '.env'), 'LOG_LEVEL=info\n');
    symlinkSync(join(cwd, '.env'), join(shared, '.env'));
    expect(await petstore(['version'], {}, { cwd: shared })).toMatchObject({ code: 0, stderr: '' });
    lchownSync(join(shared, '.env'), 65_534, 65_534);
    const refused = complaint(
      1,
      /\.env cannot be read: it belongs to another user, and root reads only its own/,
    );
    expect(await petstore(['version'], {}, { cwd: shared })).toEqual(refused);
    chownSync(join(cwd, '.env'), 65_534, 65_534);
    expect(await petstore(['version'], {}, { cwd })).toEqual(refused);
  });

  it('that is no file is refused', async () => {
    const cwd = bench.folder('odd');
    execFileSync('mkfifo', [join(cwd, '.env')]);
    expect(await petstore(['version'], {}, { cwd })).toEqual(
      complaint(1, /\.env cannot be read: it is not a file/),
    );
  });

  it('has an example that lists every setting, and no other', () => {
    const example = readFileSync(join(__dirname, '../../../.env.example'), 'utf8');
    const listed = example.match(/^(?:# )?[A-Z][A-Z_]+(?==)/gm)!.map((name) => name.replace('# ', ''));
    expect(listed.sort()).toEqual([...settingNames()].sort());
  });
});
