import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {
  type Outcome,
  cleanEnvironment,
  complaint,
  petstore,
  petstoreJson,
  petstoreScript,
} from '../../support/command-line';
import { query } from '../../support/query';
import { ServiceBench, type ServiceProcess, until } from '../../support/service-process';
import { embeddedUrl } from '../faults/support/embedded-url';
import { unlimitedKey } from '../faults/support/unlimited-key';
import { RunningCommand } from './support/running-command';

const bench = new ServiceBench();
const environment = bench.embedded();
const STOCK = 1_000_000;
const WRITERS = 8;

let service: ServiceProcess;
let key: string;
const path = (name: string) => bench.path(name);
const run = (args: string[], more = {}) => petstore(args, { ...environment, ...more }, { cwd: bench.root });

beforeAll(async () => {
  service = await bench.serve(environment);
  key = await unlimitedKey(environment);
  await service.send(key, 'PUT', '/store/inventory/1', { quantity: STOCK });
});
afterAll(() => bench.clear());

/** Orders one pet until the service ends; ids of the orders that were acknowledged. */
class Writers {
  readonly acknowledged: number[] = [];
  readonly ended = Promise.all(Array.from({ length: WRITERS }, () => this.write()));

  /** Until the service is gone. */
  private async write(): Promise<void> {
    const order = { petId: 1, quantity: 2 };
    for (;;) {
      const answer = await service.send(key, 'POST', '/store/orders', order).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status !== 201) throw new Error(`an order was answered ${answer.status}`);
      const body = (await answer.json().catch(() => undefined)) as { id: number } | undefined;
      if (body !== undefined) this.acknowledged.push(body.id);
    }
  }
}

const inDatabase = <Row extends object>(sql: string) => query<Row>(embeddedUrl(path('store')), sql);

const leftOnServer = () =>
  inDatabase(
    `SELECT slot_name AS left FROM pg_replication_slots
     UNION SELECT application_name FROM pg_stat_activity WHERE application_name = 'backup'`,
  );

const filesOf = (backup: string) => readdirSync(bench.root).filter((name) => name.startsWith(backup));

/** A backup that is ended while it writes its file; once more when it was faster. */
async function ended(backup: string, signal: NodeJS.Signals): Promise<Outcome> {
  const whole = `${backup}.tar.gz`;
  for (;;) {
    const running = new RunningCommand(['db', 'backup', whole], { environment, cwd: bench.root });
    await until(() => filesOf(backup).some((name) => statSync(path(name), { throwIfNoEntry: false })?.size));
    const outcome = await running.end(signal);
    if (!filesOf(backup).includes(whole)) return outcome;
    rmSync(path(whole));
  }
}

describe('db backup of a running store', () => {
  it('contains everything acknowledged before it began, consistently, even if the service fails', async () => {
    const writers = new Writers();
    await until(() => writers.acknowledged.length >= 50);
    const before = [...writers.acknowledged];
    const backup = await petstoreJson<{ bytes: number; files: number }>(
      ['db', 'backup', path('under-load.tar.gz')],
      environment,
    );
    const during = writers.acknowledged.length;
    expect(await leftOnServer()).toEqual([]);
    await service.end('SIGKILL');
    await writers.ended;
    expect(during).toBeGreaterThan(before.length);
    expect(backup).toMatchObject({ bytes: statSync(path('under-load.tar.gz')).size });
    // It holds the password of the database.
    expect(statSync(path('under-load.tar.gz')).mode & 0o077).toBe(0);

    // In place of the data whose database still runs.
    expect((await run(['db', 'restore', '--yes', path('under-load.tar.gz')])).code).toBe(0);
    service = await bench.serve(environment);
    const orders = await inDatabase<{ id: string; quantity: number }>('SELECT id, quantity FROM orders');
    const ids = new Set(orders.map(({ id }) => Number(id)));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    const stock = await service.send(key, 'GET', '/store/inventory/1');
    expect(await stock.json()).toMatchObject({ quantity: STOCK - 2 * orders.length });
    expect((await service.send(key, 'POST', '/store/orders', { petId: 1 })).status).toBe(201);
  });

  it('can be piped, and reports to standard error', async () => {
    const running = new RunningCommand(['db', 'backup', '-'], { environment, cwd: bench.root });
    const chunks: Buffer[] = [];
    running.child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const { code, stderr } = await running.end();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Backed up [\d,]+ files/) as string,
    });
    writeFileSync(path('piped.tar.gz'), Buffer.concat(chunks));
    expect((await run(['db', 'restore', 'piped.tar.gz'], bench.embedded('piped'))).code).toBe(0);
  });

  it('does not overwrite an existing file', async () => {
    writeFileSync(path('mine'), 'mine');
    expect(await run(['db', 'backup', 'mine'])).toEqual(complaint(1, /mine already exists; --force/));
    expect(readFileSync(path('mine'), 'utf8')).toBe('mine');
  });

  it('reports a full disk in one line, and leaves nothing on the server', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [petstoreScript(), 'db', 'backup', '-'], {
      cwd: bench.root,
      env: cleanEnvironment(environment),
      stdio: ['ignore', full, 'pipe'],
    });
    let stderr = '';
    child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    closeSync(full);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'petstore: cannot write to standard output: no space left on device.\n',
    });
    expect(await leftOnServer()).toEqual([]);
  });

  it('leaves nothing on the server when it is killed, and only a file marked as partial', async () => {
    await ended('killed', 'SIGKILL');
    expect(filesOf('killed')).toEqual([expect.stringMatching(/^killed\.tar\.gz\.\d+\.partial$/)]);
    await until(async () => (await leftOnServer()).length === 0);
    expect((await run(['db', 'backup', 'killed.tar.gz'])).code).toBe(0);
  });

  it('removes its file when it is interrupted', async () => {
    expect(await ended('stopped', 'SIGINT')).toMatchObject({ code: 130, stdout: '' });
    expect(filesOf('stopped')).toEqual([]);
  });
});

describe('db restore', () => {
  it('fails while the service runs, whatever the options', async () => {
    expect(await run(['db', 'restore', '--yes', 'piped.tar.gz'])).toEqual(
      complaint(1, /another process uses the database/),
    );
    expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
  });

  it('needs --yes in a script where a database exists', async () => {
    expect(await run(['db', 'restore', 'piped.tar.gz'], bench.embedded('piped'))).toEqual(
      complaint(2, /replaces the database in \S+piped\. Continue\? Add --yes/),
    );
  });

  it('of a truncated backup reports it in one line, and changes nothing', async () => {
    truncateSync(path('piped.tar.gz'), statSync(path('piped.tar.gz')).size - 1);
    const before = readdirSync(path('piped'));
    const outcome = await run(['db', 'restore', '--yes', 'piped.tar.gz'], bench.embedded('piped'));
    expect(outcome).toEqual(complaint(1, /only a part of one.*nothing was changed/));
    expect(readdirSync(path('piped'))).toEqual(before);
    await run(['db', 'restore', 'piped.tar.gz'], bench.embedded('none'));
    expect(readdirSync(bench.root)).not.toContain('none');
  });

  it.each([
    ['backup', /pg_dump -Fc/],
    ['restore', /pg_restore/],
  ])('and db %s recommend another tool for a database of DATABASE_URL', async (command, tool) => {
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none';
    expect(await run(['db', command, 'mine'], { DATABASE_URL })).toEqual(complaint(1, tool));
  });
});
