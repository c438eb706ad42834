import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until, within } from '../../support/eventually';
import { documentedFleet } from '../../support/haproxy';
import { HAPROXY, findProgram } from '../../support/programs';
import { ROOT, read } from '../../support/files';
import { freePort } from '../../support/redis-server';

const SLOTS = 400;
const PER_ADDRESS = 256;
const FILE = 'docker/haproxy/haproxy.cfg';
const deployed = read(FILE);
const folder = mkdtempSync(join(tmpdir(), 'petstore-proxy-'));
let proxy: ChildProcess | undefined;

afterAll(async () => {
  const ended = proxy && once(proxy, 'exit');
  proxy?.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true });
});

it('HAProxy accepts the configuration', () => {
  // Its warnings are of names that only a container knows.
  const { status, stderr } = spawnSync(findProgram(HAPROXY)!, ['-c', '-f', join(ROOT, FILE)]);
  expect([status, status === 0 ? '' : stderr.toString()]).toEqual([0, '']);
});

it('The proxy has every directive of the documented fleet, and drops addresses that callers forge', async () => {
  const directives = (configuration: string) =>
    configuration.split('\n').filter((line) => /^ {2}(?!server |bind )\S/.test(line));
  const { configuration } = await documentedFleet();
  expect(directives(deployed)).toEqual(expect.arrayContaining(directives(configuration)));
  expect(directives(deployed)).toContain('  http-request del-header X-Forwarded-For');
});

/** The deployed proxy with fewer connections, more patience, and one server for both instances. */
async function startProxy(instance: number): Promise<number> {
  const [port, metrics] = [await freePort(), await freePort()];
  const configuration = deployed
    .replace('maxconn 4096', `maxconn ${SLOTS}`)
    .replace(/timeout (client|http-request) \d+s/g, 'timeout $1 1h')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('bind :8405', `bind 127.0.0.1:${metrics}`)
    .replace(/store-(one|two):3000/g, `127.0.0.1:${instance}`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  proxy = spawn(findProgram(HAPROXY)!, ['-f', file], { stdio: 'ignore' });
  return port;
}

it('Its own responses are Error objects, and half-sent requests from one address take nobody else the connections', async () => {
  const instance = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(instance, 'listening');
  const port = await startProxy((instance.address() as AddressInfo).port);
  const ask = () => fetch(`http://127.0.0.1:${port}/pets`);
  const answers = (status: number) =>
    ask().then(
      (answer) => answer.status === status,
      () => false,
    );
  await until(() => answers(200));
  let refused = 0;
  const flood = Array.from({ length: SLOTS + 50 }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).on('close', () => (refused += 1));
    socket.write('GET /pets HTTP/1.1\r\nHost: shop\r\n');
    return socket;
  });
  await until(() => refused === flood.length - PER_ADDRESS);
  expect((await within('the answer to another address', ask())).status).toBe(200);
  flood.forEach((socket) => socket.destroy());
  instance.close();
  instance.closeAllConnections();

  await until(() => answers(503));
  const answer = await ask();
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await answer.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
});
