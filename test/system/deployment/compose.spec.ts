import { documentedFleet } from '../../support/haproxy';
import { readSettings } from '../../../src/settings';
import { type Container, faultsOfContainer, isPinned, secretsWithoutDemand } from './support/container-rules';
import { read, readYaml } from '../../support/files';

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
  expect(faultsOfContainer(container)).toEqual([]);
});

it('Third-party images are pinned', () => {
  expect(ofOthers.filter(([, { image = '' }]) => !isPinned(image)).map(([name]) => name)).toEqual([]);
});

it('No secret has a default: a missing one is reported, with a link to the docs', () => {
  expect(secretsWithoutDemand(TEXT)).toEqual([]);
  expect(TEXT.match(/\$\{\w*PASSWORD:\?/g)!.length).toBeGreaterThanOrEqual(5);
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
