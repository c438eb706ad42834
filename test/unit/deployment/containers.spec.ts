import { readSettings } from '../../../src/all-settings';
import { read, readYaml } from '../../support/files';
import { documentedShutdownDelay } from '../../support/haproxy';

/** A service of a compose file, with the members that the rules name. */
interface Container {
  build?: unknown;
  image?: string;
  user?: string;
  privileged?: boolean;
  cap_add?: string[];
  healthcheck?: { test?: string[] };
  restart?: string;
  environment?: Record<string, string>;
  ports?: string[];
  networks: string[] | { front: { ipv4_address: string } };
  stop_grace_period?: string;
}

const TEXT = read('docker/compose.yaml');
const [{ services, networks }] = readYaml<{
  services: Record<string, Container>;
  networks: Record<string, { internal?: boolean } | undefined>;
}>('docker/compose.yaml') as [{ services: Record<string, Container>; networks: { data: object } }];
// prettier-ignore
const SECRETS = [
  'POSTGRES_PASSWORD', 'PETSTORE_DATABASE_PASSWORD', 'PETSTORE_MONITOR_PASSWORD', 'VALKEY_PASSWORD', 'WEBHOOK_KEY',
];

it.each(Object.entries(services))('%s is locked down, bounded, pinned and not published', (_name, one) => {
  const limits = { memory: expect.any(String), cpus: expect.any(String), pids: expect.any(Number) } as object;
  expect(one).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    deploy: { resources: { limits } },
  });
  expect([one.privileged, one.cap_add]).toEqual([undefined, undefined]);
  expect(one.restart === 'no' || one.healthcheck?.test).toBeTruthy();
  expect((one.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  // The image of the service names its user itself.
  if (one.build === undefined) {
    expect(one.user).toMatch(/^[1-9]\d*:\d+$/);
    expect(one.image).toMatch(/:v?\d+(\.\d+){1,2}(-[\w.]+)*$/);
  }
});

it('No secret has a default: a missing one is reported', () => {
  const uses = [...TEXT.matchAll(/(?<!\$)\$\{(\w*(?:PASSWORD|SECRET|KEY|TOKEN)\w*)([^}]*)\}/g)];
  expect(new Set(uses.map(([, name]) => name))).toEqual(new Set(SECRETS));
  expect(uses.filter(([, , rest = '']) => !/^:\?.+/.test(rest)).map(([use]) => use)).toEqual([]);
});

it('The instances start with valid settings, trust only the proxy, and stop within their grace period', () => {
  const shutdownDelay = documentedShutdownDelay();
  const proxy = services.proxy!.networks as { front: { ipv4_address: string } };
  for (const instance of [services['store-one']!, services['store-two']!]) {
    const environment = Object.entries(instance.environment!).map(([name, value]) => [
      name,
      value
        .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
        .replace(/\$\{WEBHOOK_KEY:\?[^}]*\}/, Buffer.alloc(32).toString('base64'))
        .replace(/\$\{\w+:\?[^}]*\}/g, 'secret'),
    ]);
    const settings = readSettings(Object.fromEntries(environment) as Record<string, string>);
    expect(settings).toMatchObject({
      instances: 2,
      databaseUrl: 'postgres://petstore:secret@postgres:5432/petstore',
      redisUrl: 'redis://:secret@valkey:6379',
      trustProxy: [proxy.front.ipv4_address],
    });
    expect(settings.shutdownDelaySeconds).toBeGreaterThanOrEqual(Number(shutdownDelay));
    const grace = Number.parseInt(instance.stop_grace_period!, 10);
    expect(grace).toBeGreaterThanOrEqual(settings.shutdownDelaySeconds + 30);
  }
});

it('Who watches the database does not get the role of its owner', () => {
  const { DATA_SOURCE_USER, DATA_SOURCE_PASS } = services['postgres-exporter']!.environment!;
  expect(DATA_SOURCE_USER).toBe('petstore_monitor');
  expect(DATA_SOURCE_PASS).toContain('PETSTORE_MONITOR_PASSWORD');
  expect(read('docker/postgres/10-petstore.sh')).toMatch(
    /CREATE ROLE petstore_monitor .* IN ROLE pg_monitor;/,
  );
});

it('Only the service and the exporters reach the database and Valkey', () => {
  const reaching = Object.entries(services).filter(([, one]) => [one.networks].flat().includes('data'));
  const names = 'store-one store-two migrate postgres valkey postgres-exporter valkey-exporter';
  expect(reaching.map(([name]) => name)).toEqual(names.split(' '));
  expect(networks.data).toMatchObject({ internal: true });
});

const DOCKERFILE = read('docker/Dockerfile');

it('The image is built on a whole version, runs as a user by number and starts without a shell', () => {
  expect(DOCKERFILE).toMatch(/^FROM node:\d+\.\d+\.\d+\S* AS base$/m);
  expect(DOCKERFILE).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  expect(DOCKERFILE).toMatch(/^HEALTHCHECK [^]*? CMD \["node", /m);
  expect(DOCKERFILE).toMatch(/^ENTRYPOINT \["petstore"\]\nCMD \["serve"\]$/m);
});

it('No secret is in the image', () => {
  expect(DOCKERFILE).not.toMatch(/^(ARG|ENV|LABEL).*(PASSWORD|SECRET|TOKEN|KEY|_URL)/m);
});

it('The settings of the image are settings of the service, and make it reachable from outside the container', () => {
  const environment = Object.fromEntries(
    [...DOCKERFILE.matchAll(/^(?:ENV|   ) (\w+)=(\S+)/gm)].map(([, name = '', value]) => [name, value]),
  );
  expect(Object.keys(environment)).toEqual(['NODE_ENV', 'HOST', 'PORT', 'METRICS_PORT']);
  const { host, port, metrics } = readSettings(environment);
  expect({ host, port, metrics }).toEqual({
    host: '0.0.0.0',
    port: 3000,
    metrics: { host: '0.0.0.0', port: 9464 },
  });
  const [, exposed] = /^EXPOSE (.+)$/m.exec(DOCKERFILE)!;
  expect(exposed).toBe(`${port} ${metrics!.port}`);
});

it('The unit for systemd starts the service with a setting of the service, enough descriptors, and time to stop', () => {
  const lines = read('docker/systemd/petstore.service').split('\n');
  const entries = lines.filter((line) => /^[A-Z]\w+=/.test(line)).map((line) => line.split(/=(.*)/s));
  expect(lines.filter((line) => line !== '' && !/^(#|\[\w+\]$|[A-Z]\w+=)/.test(line))).toEqual([]);
  const unit = Object.fromEntries(entries) as Record<string, string>;
  expect(unit.ExecStart).toMatch(/ node bin\/petstore\.js serve$/);
  const [name = '', value] = unit.Environment!.split('=');
  expect(readSettings({ [name]: value }).dataDirectory).toBe(`/var/lib/${unit.StateDirectory}/data`);
  const [, needed = ''] = /needs ([\d,]+) descriptors/.exec(read('docs/operations/running.md'))!;
  expect(Number(unit.LimitNOFILE)).toBeGreaterThan(Number(needed.replace(',', '')));
  expect(Number(unit.TimeoutStopSec)).toBeGreaterThanOrEqual(40);
  expect(unit).toMatchObject({ KillMode: 'mixed', Restart: 'on-failure', WantedBy: 'multi-user.target' });
});

it('The scrape job has the name that the alerts expect, and the default address of the metrics', () => {
  const [{ scrape_configs: jobs }] = readYaml('docker/prometheus/scrape.yaml') as [
    { scrape_configs: object[] },
  ];
  const { host, port } = readSettings({}).metrics!;
  expect(jobs).toMatchObject([{ job_name: 'petstore', static_configs: [{ targets: [`${host}:${port}`] }] }]);
  expect(read('docker/prometheus/alerts.yaml')).toContain('job="petstore"');
});
