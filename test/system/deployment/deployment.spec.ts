import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until, within } from '../../support/eventually';
import { listen } from '../../support/ports';
import { ROOT, read, readYaml, useFolder } from '../../support/files';
import { DEPLOYED, Haproxy } from '../../support/haproxy';
import { HAPROXY, PROMTOOL, findProgram } from '../../support/programs';

const SLOTS = 400;
const PER_ADDRESS = 256;

/** The header fields of the latest request that an instance has received. */
let seen: IncomingHttpHeaders = {};
const instance = createServer((request, response) => {
  seen = request.headers;
  response.end();
});
let port: number;

beforeAll(async () => void (port = await listen(instance)));
afterEach(() => Haproxy.closeAll());
afterAll(() => instance.close().closeAllConnections());

it('HAProxy accepts the configuration', () => {
  // haproxy warns of names that only containers can resolve.
  const { status, stderr } = spawnSync(findProgram(HAPROXY)!, ['-c', '-f', join(ROOT, DEPLOYED)]);
  expect([status, status === 0 ? '' : stderr.toString()]).toEqual([0, '']);
});

it('No field by which a caller claims to be forwarded reaches an instance, and no answer says how long the instance keeps its connection', async () => {
  const proxy = await Haproxy.start([port, port]);
  await proxy.sees('one', 'UP');
  const names =
    'x-forwarded-for X-Forwarded-Host X-FORWARDED-PROTO X-Forwarded-Prefix X-Forwarded-Port Forwarded';
  const forged = names.split(' ').map((name) => [name, 'https://evil.example/evil']);
  const headers = Object.fromEntries(forged) as Record<string, string>;
  let keepAlive: string | null = '';
  await until(async () => {
    keepAlive = (await fetch(`${proxy.url}/openapi.json`, { headers })).headers.get('keep-alive');
    return seen['x-forwarded-for'] !== undefined;
  });
  expect(keepAlive).toBeNull();
  const fields = Object.entries(seen).filter(([name]) => name.includes('forwarded'));
  expect(Object.fromEntries(fields)).toEqual({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
});

it('Half-sent requests from one address take nobody else the connections', async () => {
  // The proxy has fewer connections and longer timeouts than the deployed one.
  const proxy = await Haproxy.start([port, port], (deployed) =>
    deployed
      .replace('maxconn 4096', `maxconn ${SLOTS}`)
      .replace(/timeout (client|http-request) \d+s/g, 'timeout $1 1h'),
  );
  await proxy.sees('one', 'UP');
  let refused = 0;
  const flood = Array.from({ length: SLOTS + 50 }, () => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).on('close', () => (refused += 1));
    socket.write('GET /pets HTTP/1.1\r\nHost: shop\r\n');
    return socket;
  });
  await until(() => refused === flood.length - PER_ADDRESS);
  const served = await within('the answer to another address', fetch(`${proxy.url}/pets`));
  expect(served.status).toBe(200);
  flood.forEach((socket) => socket.destroy());
});

it('Responses of the proxy itself are Error objects, and no key of a URL is in its log, whether or not it can read the request', async () => {
  const proxy = await Haproxy.start([1, 1]);
  await Promise.all([proxy.sees('one', 'DOWN'), proxy.sees('two', 'DOWN')]);
  const key = `psk_live_${'a'.repeat(36)}`;
  const answer = await fetch(`${proxy.url}/pets/${key}?api_key=${key}`);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await answer.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
  const unreadable = connect(proxy.port, '127.0.0.1');
  unreadable.end(`GET /pets#${key} HTTP/1.1\r\nHost: shop\r\n\r\n`);
  await until(() => proxy.log.includes(' 400 '));
  expect(proxy.log).toMatch(/ GET \/pets\/psk_live_ HTTP/);
  expect(proxy.log).not.toContain('aaaa');
});

interface Dashboard {
  panels: { targets?: { expr: string }[] }[];
}

const dashboard = JSON.parse(read('docker/grafana/petstore.json')) as Dashboard;
/** Replaces a variable by a value, as Grafana does before Prometheus reads the expression. */
const panels = dashboard.panels
  .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  .map((expression) => expression.replaceAll('$__rate_interval', '5m'));

function promtool(args: string[]) {
  const options = { cwd: join(ROOT, 'docker/prometheus'), encoding: 'utf8' as const };
  return spawnSync(findProgram(PROMTOOL)!, args, options);
}

const folder = useFolder();

it('Prometheus accepts its configuration, the alerts, and every expression of the dashboard', () => {
  expect(promtool(['check', 'config', 'prometheus.yaml'])).toMatchObject({ status: 0 });
  const file = join(folder, 'panels.yaml');
  const asRules = panels.map((expr, index) => ({ record: `panel${index}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }));
  expect(promtool(['check', 'rules', file])).toMatchObject({ status: 0 });
});

it('The alerts fire as their scenarios say: a total outage pages, a quiet night does not', () => {
  const { status, stdout, stderr } = promtool(['test', 'rules', 'alerts.test.yaml']);
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('FAILED')]);
  expect(stdout).toContain('SUCCESS');
});

it('Prometheus scrapes every instance of the compose file, and alerts its Alertmanager', () => {
  const [{ services }] = readYaml<{ services: object }>('docker/compose.yaml') as [{ services: object }];
  const targets = read('docker/prometheus/prometheus.yaml').match(/[\w-]+(?=:\d+')/g);
  expect(Object.keys(services)).toEqual(expect.arrayContaining(targets!));
  expect(targets).toEqual(expect.arrayContaining(['store-one', 'store-two', 'alertmanager']));
});
