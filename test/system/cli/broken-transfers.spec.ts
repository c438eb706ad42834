import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  cleanEnvironment,
  complaint,
  petstore,
  petstoreJson,
  petstoreProcess,
  petstoreScript,
} from '../../support/command-line';
import { query } from '../../support/query';
import { ServiceBench, type ServiceProcess, until } from '../../support/service-process';
import { TcpProxy } from '../../support/tcp-proxy';
import { createTestDatabase } from '../../support/test-database';
import { embeddedUrl } from '../faults/support/embedded-url';
import { SmallDisk, describeOnSmallDisk } from '../faults/support/small-disk';
import { RunningCommand } from './support/running-command';

const MEBIBYTE = 1_048_576;
const PETS = 60_000;

const bench = new ServiceBench();
const environment = bench.embedded();
const path = (...names: string[]) => bench.path(...names);
/** Backups of two states of the store. */
const [OLD, NEW] = [path('old.tar.gz'), path('new.tar.gz')];

let service: ServiceProcess;

beforeAll(async () => {
  service = await bench.serve(environment);
  await petstoreJson(['clients', 'create', '--name', 'old'], environment);
  await petstoreJson(['db', 'backup', OLD], environment);
  await petstoreJson(['clients', 'create', '--name', 'new'], environment);
  await petstoreJson(['db', 'backup', NEW], environment);
  await query(
    embeddedUrl(path('store')),
    `INSERT INTO pets (name, category_id, status) SELECT md5(n::text), 1, 'sold' FROM generate_series(1, ${PETS}) AS n`,
  );
});
afterEach(async () => {
  // Whatever broke, the source serves, and nothing of it is left there.
  expect((await service.send(service.firstKey!, 'GET', '/rate-limit')).status).toBe(200);
  const left = `SELECT slot_name AS left FROM pg_replication_slots
    UNION SELECT query FROM pg_stat_activity WHERE application_name = 'backup' OR state LIKE 'idle in transaction%'`;
  await until(async () => (await query(embeddedUrl(path('store')), left)).length === 0);
});
afterAll(() => bench.clear());

/** Which of the two states a command finds in a folder. */
async function stateIn(folder: string): Promise<string> {
  const { stdout, stderr } = await petstore(['clients', 'list'], { DATA_DIR: folder });
  return /\bnew\b/.exec(stdout)?.[0] ?? /\bold\b/.exec(stdout)?.[0] ?? stderr;
}

const leftIn = (folder: string) =>
  readdirSync(folder).filter((name) => /^init|restored|tmp$|partial$/.test(name));

it('db restore that is killed at any step leaves either the old store or the new one, whole, and can be repeated', async () => {
  const folder = path('killed');
  const restore = (backup: string, step = 0) =>
    petstoreProcess(
      ['db', 'restore', '--yes', backup],
      { DATA_DIR: folder, KILL_AT: String(step) },
      { node: ['--require', require.resolve('./support/kill-at.js')] },
    );
  expect((await restore(OLD, 1)).code).toBeNull();
  expect(leftIn(folder)).toHaveLength(1);
  expect(await stateIn(folder)).toMatch(/There is no database/);
  expect((await restore(OLD)).code).toBe(0);

  const found: boolean[] = [];
  let [before, after] = ['old', 'new'];
  for (let step = 1; (await restore(after === 'new' ? NEW : OLD, step)).code !== 0; step += 1) {
    const state = await stateIn(folder);
    expect([before, after]).toContain(state);
    expect(leftIn(folder)).toEqual([]);
    found.push(state === after);
    if (state === after) [before, after] = [after, before];
  }
  expect(await stateIn(folder)).toBe(after);
  // There is one step from which on it is the new one.
  expect(found).toEqual([...found].sort());
  expect(found.filter(Boolean).length).toBeGreaterThan(2);
  expect(found[0]).toBe(false);
});

it('db copy that loses its connection, is interrupted or is killed leaves the target empty, and can be repeated', async () => {
  const target = await createTestDatabase('template1');
  const proxy = await TcpProxy.start(target.url);
  const told = expect.stringMatching(/^petstore: [^\n]*the target is (still )?empty[^\n]*\n$/) as string;
  for (const [breakIt, outcome] of [
    [() => proxy.cut(), { code: 1, stdout: '', stderr: told }],
    [({ child }: RunningCommand) => child.kill('SIGINT'), { code: 130, stdout: '', stderr: told }],
    [({ child }: RunningCommand) => child.kill('SIGKILL'), { code: null, stdout: '', stderr: '' }],
  ] as const) {
    const copy = new RunningCommand(['db', 'copy', '--to', proxy.url], { environment, cwd: bench.root });
    proxy.afterBytes(PETS * 20, () => breakIt(copy));
    expect(await copy.end()).toEqual(outcome);
    await until(async () => {
      const others = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      return (await target.pool.query(others)).rowCount === 0;
    });
    expect((await target.pool.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).rowCount).toBe(0);
    await proxy.restore();
  }
  expect(await petstore(['db', 'copy', '--to', proxy.url], environment)).toMatchObject({ code: 0 });
  await proxy.close();
  await target.drop();
});

describeOnSmallDisk('A disk that fills up', () => {
  /** Of these the store that serves there takes a third. */
  const MEBIBYTES = 192;
  let disk: SmallDisk;
  let there: ServiceProcess;
  let url: string;

  beforeAll(async () => {
    disk = new SmallDisk(bench.folder('disk'), MEBIBYTES);
    there = await bench.serve({ DATA_DIR: path('disk', 'store') }, { within: disk.within });
    disk.seenBy(there.child.pid!);
    url = embeddedUrl(disk.path('store'));
  });
  // Its database is out of the bench's sight.
  afterAll(() => there.end());

  it('during db backup: fails in one line, removes its file, and can be repeated', async () => {
    disk.fill({ leaving: MEBIBYTE });
    const file = disk.path('store.tar.gz');
    expect(await petstore(['db', 'backup', file], environment)).toEqual(
      complaint(1, /no space left on device/),
    );
    expect(readdirSync(disk.path())).toEqual(['ballast', 'store']);
    disk.free();
    expect(await petstore(['db', 'backup', file], environment)).toMatchObject({ code: 0 });
  });

  it('during db copy, on the target: it stays empty, and the copy can be repeated', async () => {
    await query(url, 'CREATE DATABASE target');
    const target = url.replace(/petstore$/, 'target');
    disk.fill({ leaving: 8 * MEBIBYTE });
    expect(await petstore(['db', 'copy', '--to', target], environment)).toEqual(
      complaint(1, /the copy failed, and the target is still empty/),
    );
    disk.free();
    const tables = `SELECT FROM pg_tables WHERE schemaname = 'public'`;
    await until(() =>
      query(target, tables).then(
        (found) => found.length === 0,
        () => false,
      ),
    );
    expect(await petstore(['db', 'copy', '--to', target], environment)).toMatchObject({ code: 0 });
  });

  it('during db restore: fails in one line, keeps the old store, and can be repeated', () => {
    const small = new SmallDisk(bench.folder('small'), MEBIBYTES);
    const script = `
      petstore() { "$NODE" "$PETSTORE" "$@" 2>&1; echo "= $?"; }
      petstore db restore "$OLD"
      cat /dev/zero > ballast 2>&-
      truncate -s -32M ballast
      petstore db restore --yes "$NEW"
      petstore clients list
      ls store | grep init
      rm ballast
      petstore db restore --yes "$NEW"
      petstore clients list`;
    const [program, ...args] = [...small.within, 'sh', '-c', `cd "$DATA_DIR/.." && ${script}`];
    const { stdout } = spawnSync(program, args, {
      env: cleanEnvironment({
        DATA_DIR: path('small', 'store'),
        OLD,
        NEW,
        NODE: process.execPath,
        PETSTORE: petstoreScript(),
      }),
      encoding: 'utf8',
    });
    const parts = [
      'Restored [^]*= 0',
      'petstore: cannot restore [^\\n]*the disk is full[^\\n]*\n= 1',
      'id [^]* old [^]*= 0',
      'Restored [^]*= 0',
      'id [^]* new [^]*= 0',
    ];
    expect(stdout).toMatch(new RegExp(`^${parts.join('\\n')}\\n$`));
  });
});
