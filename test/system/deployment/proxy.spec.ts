import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until, within } from '../../support/eventually';
import { documentedFleet } from '../../support/haproxy';
import { HAPROXY, findProgram } from '../../support/programs';
import { read } from '../../support/files';
import { freePort } from '../../support/redis-server';

/** The directives of a section, without names and addresses. */
function section(configuration: string, name: string): string[] {
  const lines = configuration.split('\n');
  const start = lines.findIndex((line) => line.split(' ')[0] === name);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^\S/.test(line) && !line.startsWith('#'));
  return (end === -1 ? rest : rest.slice(0, end))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(#|server |bind )/.test(line));
}

const deployed = read('docker/haproxy/haproxy.cfg');

/** @returns what HAProxy itself has against a configuration; warnings (of names that only a container knows) are none */
function refusal(configuration: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-proxy-'));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const { status, stderr } = spawnSync(findProgram(HAPROXY)!, ['-c', '-f', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return status === 0 ? '' : stderr;
}

it('HAProxy accepts the configuration', () => {
  expect(refusal(deployed)).toBe('');
});

it.each(['defaults', 'backend'])('The proxy has the %s of the documented fleet', async (name) => {
  const directives = section((await documentedFleet()).configuration, name);
  expect(directives.length).toBeGreaterThan(0);
  expect(section(deployed, name)).toEqual(expect.arrayContaining(directives));
});

it('The proxy checks the readiness of exactly the instances in the compose file', () => {
  const servers = [...deployed.matchAll(/^ {2}server \w+ (\S+)/gm)].map(([, address]) => address);
  expect(servers).toEqual(['store-one:3000', 'store-two:3000']);
});

it("The proxy's own responses are Error objects with their status", () => {
  const answers = [
    ...deployed.matchAll(/http-error status (\d+) content-type (\S+) string '([^']+)' hdr Retry-After \d+/g),
  ];
  expect(answers.map(([, status, type]) => [status, type])).toEqual(
    ['502', '503', '504'].map((status) => [status, 'application/json']),
  );
  for (const [, status, , body = ''] of answers) {
    expect(JSON.parse(body)).toEqual({
      code: 'service_unavailable',
      message: expect.any(String) as string,
      status: Number(status),
    });
  }
});

it('Callers cannot forge their address', () => {
  expect(section(deployed, 'frontend')).toContain('http-request del-header X-Forwarded-For');
  expect(section(deployed, 'defaults')).toContain('option forwardfor');
});

const SLOTS = 400;
const PER_ADDRESS = 256;

/** The deployed proxy with fewer connections, more patience, and one server for both instances. */
async function proxyOf(instance: number): Promise<{ port: number; close(): Promise<void> }> {
  const [port, metrics] = [await freePort(), await freePort()];
  const configuration = deployed
    .replace('maxconn 4096', `maxconn ${SLOTS}`)
    .replace(/timeout (client|http-request) \d+s/g, 'timeout $1 1h')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('bind :8405', `bind 127.0.0.1:${metrics}`)
    .replace(/store-(one|two):3000/g, `127.0.0.1:${instance}`);
  const folder = mkdtempSync(join(tmpdir(), 'petstore-proxy-'));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const child = spawn(findProgram(HAPROXY)!, ['-f', file], { stdio: 'ignore' });
  const close = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { port, close };
}

it('Half-sent requests from one address take nobody else the connections', async () => {
  const instance = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(instance, 'listening');
  const proxy = await proxyOf((instance.address() as AddressInfo).port);
  const ask = async () => (await fetch(`http://127.0.0.1:${proxy.port}/pets`)).status;
  const answers = () =>
    ask().then(
      (status) => status === 200,
      () => false,
    );
  await until(answers);
  let refused = 0;
  const flood = Array.from({ length: SLOTS + 50 }, () => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).on('close', () => (refused += 1));
    socket.write('GET /pets HTTP/1.1\r\nHost: shop\r\n');
    return socket;
  });
  try {
    await until(() => refused === flood.length - PER_ADDRESS);
    expect(await within('the answer to another address', ask())).toBe(200);
  } finally {
    flood.forEach((socket) => socket.destroy());
    await proxy.close();
    instance.close();
    instance.closeAllConnections();
  }
});
