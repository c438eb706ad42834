import { existsSync, readdirSync } from 'node:fs';
import { RunningCommand, petstore } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-servers';
import { until } from '../../support/eventually';
import { WITHOUT_EFFECT } from '../../support/libpq';
import { query } from '../../support/query';
import { RawConnection, requestText } from '../../support/raw-http';
import { freePort } from '../../support/ports';
import { ServiceProcesses, type ServiceProcess } from '../../support/service-process';

/** Variables of libpq that name another database than the embedded one. */
const ELSEWHERE = { PGHOST: '/nowhere', PGPORT: '1', PGUSER: 'nobody', PGDATABASE: 'none', PGPASSWORD: 'x' };

const STOPPED = { code: 0, signal: null };

const processes = new ServiceProcesses();
const environment: Record<string, string> = processes.embedded();
let first: ServiceProcess;
let key: string;

/** Runs a command with --json, which must succeed. @returns the value that it prints */
async function run<Printed>(command: string, variables = environment): Promise<Printed> {
  const { code, stdout, stderr } = await petstore([...command.split(' '), '--json'], variables);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Printed;
}

beforeAll(async () => {
  environment.PORT = String(await freePort());
  // Variables of libpq have no effect on the embedded database.
  const withVariables = { ...environment, ...ELSEWHERE, ...WITHOUT_EFFECT };
  first = await processes.serve(withVariables);
  ({ key } = await run<{ key: string }>('keys issue demo', withVariables));
  await query(
    embeddedUrl(processes.folder.path('store')),
    `INSERT INTO events (id, type, data) SELECT gen_random_uuid(), 'pet.created', '{}' FROM generate_series(1, 10000)`,
  );
  expect(await first.end()).toEqual(STOPPED);
});
afterAll(() => processes.clear());

const connection = () => RawConnection.open(Number(environment.PORT));
const postOf = (body: string, ...fields: string[]) =>
  requestText('POST /pets', [
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...fields,
  ]);

describe('a service on an embedded database', () => {
  async function expectStopped(service: ServiceProcess, stop: () => unknown): Promise<void> {
    await stop();
    expect(await service.ended).toEqual(STOPPED);
    expect(service.stderr).toBe('');
    expect(processes.postmaster()).toBeUndefined();
  }

  it('leaves nothing behind if its terminal is closed during its start', async () => {
    let service: ServiceProcess;
    // If the service was ready before the signal, the test tries again.
    do {
      service = processes.launch(environment);
      await until(() => processes.postmaster() !== undefined);
      await expectStopped(service, () => service.child.kill('SIGHUP'));
    } while (service.stdout.includes('ready'));
  });

  it('logs its address and how to issue a key, and writes only JSON into its log', () => {
    expect(first.lines.map((line) => JSON.parse(line) as object)).not.toEqual([]);
    expect(first.announced!.url).toBe(`http://127.0.0.1:${environment.PORT}`);
    expect(first.announced!.msg).toMatch(/petstore\.js keys issue demo$/);
  });

  it('that is stopped by a Ctrl-C that reaches its whole process group twice answers requests in progress, does not wait for idle connections, and saves the exact counts of the day', async () => {
    const leftToday = async (service: ServiceProcess) => {
      const answer = await service.send(key, 'GET', '/rate-limit');
      return Number(/"day";r=(\d+)/.exec(answer.headers.get('RateLimit')!)![1]);
    };
    const service = await processes.serve({ ...environment, LOG_LEVEL: 'info' }, { group: true });
    // The start logs nothing else, above all no line of Nest for each route.
    const messages = service.lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((text) => !/^((Server l|L)istening |Pet Store is ready\.)/.test(text))).toEqual(
      [],
    );
    expect(service.announced!.msg).toContain('petstore.js keys issue <client> ');
    const before = await leftToday(service);
    await Promise.all(Array.from({ length: 25 }, () => service.send(key, 'GET', '/pets?limit=1')));
    await connection();
    const begun = await connection();
    const body = '{"name": "Late", "categoryId": 1}';
    begun.write(postOf(body, 'Expect: 100-continue'));
    // The interim response shows that the service has received the request.
    expect((await begun.answer()).status).toBe(100);
    begun.write(body.slice(0, 5));
    process.kill(-service.child.pid!, 'SIGINT');
    process.kill(-service.child.pid!, 'SIGINT');
    await until(() => service.stdout.includes('SIGINT: stopping'));
    begun.write(body.slice(5));
    expect(await begun.answer()).toMatchObject({ status: 201, headers: { connection: 'close' } });
    await expectStopped(service, () => begun.closed());
    const used = await run<{ day: { remaining: number } }>('quotas show demo');
    expect(used.day.remaining).toBe(before - 26);
  });

  it('that is asked to stop serves until its delay is over, reports that it is not ready, closes connections, and stops at once on a second signal', async () => {
    const service = await processes.serve({ ...environment, SHUTDOWN_DELAY: '300' });
    const begun = await connection();
    begun.write(postOf('{}'));
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
    const answer = await service.send(key, 'GET', '/pets?limit=1');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await expectStopped(service, () => {
      // The service ignores signals within half a second after the first one, because a shell may send the first one twice.
      const again = setInterval(() => service.child.kill('SIGTERM'), 100);
      service.child.once('exit', () => clearInterval(again));
    });
    await begun.closed();
  });
});

describe('a command that has started the database leaves no server', () => {
  afterEach(() => until(() => processes.postmaster() === undefined));

  it('if a signal ends it as soon as it runs', async () => {
    const running = new RunningCommand(['events', '--follow'], environment);
    await until(() => processes.postmaster() !== undefined);
    expect(await running.outcome('SIGTERM')).toMatchObject({ code: 143 });
  });

  it('if its output is closed, as by `head`, which is no failure', async () => {
    const running = new RunningCommand(['events', '--limit', '10000', '--json'], environment);
    running.child.stdout.once('data', () => running.child.stdout.destroy());
    expect(await running.outcome()).toMatchObject({ code: 0, stderr: '' });
  });

  it('and no folder if two signals that arrive as one end db copy', async () => {
    const copying = new RunningCommand(['db', 'copy', '--to', processes.folder.path('copy')], environment);
    const partial = () => readdirSync(processes.folder.root).find((name) => name.startsWith('copy.'));
    const server = () => processes.folder.path(partial()!, 'data', 'postmaster.pid');
    await until(() => partial() !== undefined && existsSync(server()));
    copying.child.kill('SIGHUP');
    const { code, stderr } = await copying.outcome('SIGHUP');
    expect({ code, stderr }).toEqual({
      code: 129,
      stderr: 'petstore: interrupted; the target was not changed.\n',
    });
    expect(partial()).toBeUndefined();
  });
});
