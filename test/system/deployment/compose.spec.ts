import { documentedFleet } from '../../support/haproxy';
import { readSettings } from '../../../src/settings';
import { read, readYaml } from '../../support/files';

/** A service of a compose file, as far as the rules look at it. */
interface Container {
  image?: string;
  user?: string;
  build?: unknown;
  profiles?: string[];
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  deploy?: { resources?: { limits?: Record<string, unknown> } };
  environment?: Record<string, string>;
  command?: string[] | string;
  ports?: string[];
  networks?: string[] | Record<string, unknown>;
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  stop_grace_period?: string;
}

type Rule = [fault: string, holds: (container: Container) => boolean];

const RULES: Rule[] = [
  ['has a writable root file system', ({ read_only }) => read_only === true],
  ['is privileged', ({ privileged }) => privileged !== true],
  [
    'keeps capabilities',
    ({ cap_drop, cap_add }) => cap_drop?.includes('ALL') === true && cap_add === undefined,
  ],
  ['may gain privileges', ({ security_opt }) => security_opt?.includes('no-new-privileges:true') === true],
  // Our own image names its user itself.
  ['does not set a user', ({ user, build }) => build !== undefined || /^[1-9]\d*:\d+$/.test(user ?? '')],
  ['has no memory limit', ({ deploy }) => deploy?.resources?.limits?.memory !== undefined],
  ['has no CPU limit', ({ deploy }) => deploy?.resources?.limits?.cpus !== undefined],
  ['has no process limit', ({ deploy }) => deploy?.resources?.limits?.pids !== undefined],
  ['has no health check', ({ healthcheck, restart }) => healthcheck?.test !== undefined || restart === 'no'],
  [
    'is reachable from other machines',
    ({ ports = [] }) => ports.every((port) => port.startsWith('127.0.0.1:')),
  ],
];

interface Compose {
  services: Record<string, Container>;
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } }>;
  volumes: Record<string, unknown>;
}

const TEXT = read('docker/compose.yaml');
const [compose] = readYaml<Compose>('docker/compose.yaml') as [Compose];
const containers = Object.entries(compose.services);
const ofOthers = containers.filter(([, { build }]) => build === undefined);

const WEBHOOK_KEY = Buffer.alloc(32).toString('base64');

/** As compose puts values in for `${NAME:-default}` and `${NAME:?message}`. */
function filled(environment: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value
        .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
        .replace(/\$\{WEBHOOK_KEY:\?[^}]*\}/, WEBHOOK_KEY)
        .replace(/\$\{\w+:\?[^}]*\}/g, 'secret'),
    ]),
  );
}

const networksOf = ({ networks = [] }: Container) =>
  Array.isArray(networks) ? networks : Object.keys(networks);
const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);

it.each(containers)('%s is locked down and bounded', (_name, container) => {
  expect(RULES.filter(([, holds]) => !holds(container)).map(([fault]) => fault)).toEqual([]);
});

it('Third-party images are pinned', () => {
  // `name:1.2.3-variant`, or `name:18.4` for those with two numbers.
  const pinned = /:v?\d+(\.\d+){1,2}(-[\w.]+)*$/;
  expect(ofOthers.filter(([, { image = '' }]) => !pinned.test(image)).map(([name]) => name)).toEqual([]);
});

it('No secret has a default: a missing one is reported, with a link to the docs', () => {
  const uses = [...TEXT.matchAll(/(?<!\$)\$\{(\w*(?:PASSWORD|SECRET|KEY|TOKEN)\w*)([^}]*)\}/g)];
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter(([, , rest = '']) => !/^:\?.+/.test(rest)).map(([use]) => use)).toEqual([]);
});

it('Every dependency exists, and can reach the required state', () => {
  for (const [, { depends_on: dependencies = {} }] of containers) {
    for (const [name, { condition }] of Object.entries(dependencies)) {
      const { restart, healthcheck } = compose.services[name]!;
      const possible = condition === 'service_completed_successfully' ? restart === 'no' : healthcheck?.test;
      expect([name, Boolean(possible)]).toEqual([name, true]);
    }
  }
});

it('The instances start with valid settings, and stop within their grace period', async () => {
  const { shutdownDelay } = await documentedFleet();
  const instances = containers.filter(([name]) => name.startsWith('store-'));
  expect(instances.length).toBe(2);
  for (const [, instance] of instances) {
    const environment = filled(instance.environment);
    const settings = readSettings(environment);
    expect(settings.instances).toBe(instances.length);
    expect(settings.databaseUrl).toBe('postgres://petstore:secret@postgres:5432/petstore');
    expect(settings.redisUrl).toBe('redis://:secret@valkey:6379');
    expect(settings.shutdownDelaySeconds).toBeGreaterThanOrEqual(Number(shutdownDelay));
    expect(seconds(instance.stop_grace_period)).toBeGreaterThanOrEqual(settings.shutdownDelaySeconds + 30);
  }
});

it('Only the proxy is trusted to forward addresses', () => {
  const { networks } = compose.services.proxy!;
  const address = (networks as { front: { ipv4_address: string } }).front.ipv4_address;
  const prefix = compose.networks.front!.ipam!.config[0]!.subnet.replace(/\d+\/24$/, '');
  expect(address.startsWith(prefix)).toBe(true);
  for (const name of ['store-one', 'store-two']) {
    expect(readSettings(filled(compose.services[name]!.environment)).trustProxy).toEqual([address]);
  }
});

it('Only the service and the exporters can reach the database and Valkey', () => {
  const reachable = containers.filter(([, container]) => networksOf(container).includes('data'));
  expect(reachable.map(([name]) => name)).toEqual([
    'store-one',
    'store-two',
    'migrate',
    'postgres',
    'valkey',
    'postgres-exporter',
    'valkey-exporter',
  ]);
  expect(reachable.filter(([, { ports }]) => ports !== undefined)).toEqual([]);
  expect(compose.networks.data!.internal).toBe(true);
});
