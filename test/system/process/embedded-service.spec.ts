import { spawnSync } from 'node:child_process';
import { petstore } from '../../support/command-line';
import { until } from '../../support/eventually';
import { WITHOUT_EFFECT } from '../../support/libpq';
import { PROMTOOL, findProgram } from '../../support/programs';
import { RawConnection, requestText } from '../../support/raw-http';
import { freePort } from '../../support/redis-server';
import { ServiceProcesses, type ServiceProcess } from '../../support/service-process';

/** The variables that name another database than the service's. */
const ELSEWHERE = {
  PGHOST: '/nowhere',
  PGPORT: '1',
  PGUSER: 'nobody',
  PGDATABASE: 'none',
  PGPASSWORD: 'x',
};

const STOPPED = { code: 0, signal: null };

const processes = new ServiceProcesses();
const environment: Record<string, string> = processes.embedded();
let first: ServiceProcess;
let key: string;

/** Runs a command that has to succeed, and reads what it printed as JSON. */
async function run<Printed>(command: string, variables = environment): Promise<Printed> {
  const { code, stdout, stderr } = await petstore([...command.split(' '), '--json'], variables);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Printed;
}

beforeAll(async () => {
  environment.PORT = String(await freePort());
  // For the embedded database, no variable of libpq counts.
  const withVariables = { ...environment, ...ELSEWHERE, ...WITHOUT_EFFECT };
  first = await processes.serve(withVariables);
  ({ key } = await run<{ key: string }>('keys issue demo', withVariables));
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
    expect(await service.ending).toEqual(STOPPED);
    expect(service.stderr).toBe('');
    expect(processes.postmaster()).toBeUndefined();
  }

  it('leaves nothing behind if its terminal is closed during its start', async () => {
    let service: ServiceProcess;
    // Once more when the start was faster.
    do {
      service = processes.launch(environment);
      await until(() => processes.postmaster() !== undefined);
      await expectStopped(service, () => service.child.kill('SIGHUP'));
    } while (service.stdout.includes('ready'));
  });

  it('logs its address and how to issue a key, writes only JSON and no key into a log, and serves metrics on a port of their own', async () => {
    const METRICS_PORT = String(await freePort());
    const service = await processes.serve({ ...environment, METRICS_PORT });
    for (const { log } of [first, service]) {
      expect(log.map((line) => JSON.parse(line) as object)).not.toEqual([]);
    }
    expect(first.announced!.url).toBe(`http://127.0.0.1:${environment.PORT}`);
    for (const path of ['/docs', '/openapi.json', '/docs/guides/errors']) {
      expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    }
    expect(first.announced!.msg).toMatch(/petstore\.js keys issue demo$/);
    expect(service.announced!.msg).toContain('petstore.js keys issue <client> ');

    expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
    const metrics = `http://127.0.0.1:${METRICS_PORT}`;
    expect((await fetch(`${service.url}/metrics`)).status).not.toBe(200);
    const posted = await fetch(`${metrics}/metrics`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const unknown = await fetch(`${metrics}/pets`);
    expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining({ status: 404 })]);
    const http2 = 'GET /metrics HTTP/2.0\r\nHost: shop\r\n\r\n';
    const withoutHost = 'GET /metrics HTTP/1.1\r\n\r\n';
    for (const refused of ['nonsense\r\n\r\n', 'CONNECT shop:443 HTTP/1.1\r\n\r\n', http2, withoutHost]) {
      const raw = await RawConnection.open(Number(METRICS_PORT));
      raw.write('GET /metrics HTTP/1.1\r\nHost: shop\r\nExpect: the-unexpected\r\n\r\n');
      expect((await raw.answer()).status).toBe(200);
      raw.write(refused);
      expect((await raw.answer()).text).toContain('bad_request');
    }
    const answer = await fetch(`${metrics}/metrics`);
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const input = await answer.text();
    expect(input).toMatch(/^process_cpu_seconds_total \d[^]*^petstore_http_connections \d/m);
    // The names of the service's metrics follow the rules of Prometheus.
    const { stderr } = spawnSync(findProgram(PROMTOOL)!, ['check', 'metrics'], { input, encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.startsWith('petstore_'))).toEqual([]);
    await expectStopped(service, () => service.child.kill('SIGTERM'));
    await expect(fetch(`${metrics}/metrics`)).rejects.toThrow();
    expect(first.stdout + service.stdout).not.toContain('psk_live_');
  });

  it('that is told to stop by a Ctrl-C that reaches its whole process group twice answers requests in progress, does not wait for idle connections, and saves the exact counts of the day', async () => {
    const leftToday = async (service: ServiceProcess) => {
      const answer = await service.send(key, 'GET', '/rate-limit');
      return Number(/"day";r=(\d+)/.exec(answer.headers.get('RateLimit')!)![1]);
    };
    const service = await processes.serve({ ...environment, LOG_LEVEL: 'info' }, { group: true });
    // Such a start logs nothing else, such as a line of Nest for each route.
    const messages = service.log.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((text) => !/^((Server l|L)istening |Pet Store is ready\.)/.test(text))).toEqual(
      [],
    );
    const before = await leftToday(service);
    await Promise.all(Array.from({ length: 25 }, () => service.send(key, 'GET', '/pets?limit=1')));
    await connection();
    const begun = await connection();
    const body = '{"name": "Late", "categoryId": 1}';
    begun.write(postOf(body, 'Expect: 100-continue'));
    // The interim response says that the request has arrived.
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

  it('that is told to stop serves until its delay is over, reports that it is not ready, closes connections, and stops at once on a second signal', async () => {
    const service = await processes.serve({ ...environment, SHUTDOWN_DELAY: '300' });
    const begun = await connection();
    begun.write(postOf('{}'));
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
    const answer = await service.send(key, 'GET', '/pets?limit=1');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await expectStopped(service, () => {
      // What comes within half a second of the first is taken for the same one, passed on by a shell.
      const again = setInterval(() => service.child.kill('SIGTERM'), 100);
      service.child.once('exit', () => clearInterval(again));
    });
    await begun.closed();
  });
});
