import { once } from 'node:events';
import { connect } from 'node:net';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { until } from '../../support/eventually';

const bench = new ServiceBench();
let key: string;

beforeAll(async () => {
  const first = await bench.serve(bench.embedded());
  key = first.firstKey!;
  await first.end();
});

afterAll(() => bench.clear());

async function expectStopped(service: ServiceProcess, stop: () => unknown): Promise<void> {
  await stop();
  expect(await service.ending).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe('');
  expect(bench.postmaster()).toBeUndefined();
}

describe('a service that gets SIGTERM', () => {
  it('stops properly when Ctrl-C reaches its whole process group, and again while it stops', async () => {
    const service = await bench.serve(bench.embedded(), { group: true });
    const idle = await service.send(key, 'GET', '/pets');
    expect(idle.status).toBe(200);
    await expectStopped(service, () => {
      process.kill(-service.child.pid!, 'SIGINT');
      process.kill(-service.child.pid!, 'SIGINT');
    });
  });

  it('leaves nothing behind if its terminal is closed during its start', async () => {
    let service: ServiceProcess;
    // Once more when the start was faster.
    do {
      service = bench.launch(bench.embedded());
      await until(() => bench.postmaster() !== undefined);
      await expectStopped(service, () => service.child.kill('SIGHUP'));
    } while (service.stdout.includes('ready'));
  });

  it('answers requests in progress, and does not wait for idle connections', async () => {
    const service = await bench.serve({ ...bench.embedded(), LOG_LEVEL: 'info' });
    const { port } = new URL(service.url);
    const silent = connect(Number(port), '127.0.0.1');
    const begun = connect(Number(port), '127.0.0.1');
    await Promise.all([once(silent, 'connect'), once(begun, 'connect')]);
    let answer = '';
    begun.setEncoding('utf8').on('data', (text: string) => (answer += text));
    silent.on('error', () => undefined);
    const body = '{"name": "Late", "categoryId": 1}';
    const head = `POST /pets HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${key}\r\nContent-Type: application/json`;
    begun.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await until(async () => (await service.send(key, 'GET', '/rate-limit')).status === 200);
    await expectStopped(service, async () => {
      service.child.kill('SIGTERM');
      await until(() => service.stdout.includes('SIGTERM: stopping'));
      begun.write(body.slice(5));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
  });

  it('serves until then, reports that it is not ready, closes connections, and stops at once on a second signal', async () => {
    const service = await bench.serve({ ...bench.embedded(), SHUTDOWN_DELAY: '300' });
    const { port } = new URL(service.url);
    const begun = connect(Number(port), '127.0.0.1');
    begun.on('error', () => undefined).resume();
    await once(begun, 'connect');
    const type = 'Content-Type: application/json';
    begun.write(
      `POST /pets HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${key}\r\n${type}\r\nContent-Length: 5\r\n\r\n`,
    );
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
    const answer = await service.send(key, 'GET', '/pets?limit=1');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    const broken = once(begun, 'close');
    await expectStopped(service, () => {
      // What comes within half a second of the first is taken for the same one, passed on by a shell.
      const again = setInterval(() => service.child.kill('SIGTERM'), 100);
      service.child.once('exit', () => clearInterval(again));
    });
    await broken;
  });

  it('saves the exact counts of the day', async () => {
    const usedToday = async (service: ServiceProcess) => {
      const answer = await service.send(key, 'GET', '/pets?limit=1');
      const [, remaining] = /"day";r=(\d+)/.exec(answer.headers.get('RateLimit')!)!;
      return Number(remaining);
    };
    const service = await bench.serve(bench.embedded());
    const before = await usedToday(service);
    await Promise.all(Array.from({ length: 25 }, () => service.send(key, 'GET', '/pets?limit=1')));
    await service.end();
    const next = await bench.serve(bench.embedded());
    expect(await usedToday(next)).toBe(before - 26);
    await next.end();
  });
});
