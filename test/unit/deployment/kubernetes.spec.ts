import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseEnvironment } from 'node:querystring';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { ICronJob, IJob } from 'kubernetes-models/batch/v1';
import { readSettings } from '../../../src/all-settings';
import { filesOf, read, readYaml, useFolder } from '../../support/files';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

type Model = new (content: Manifest) => { validate(): void };

const FOLDER = 'docker/kubernetes';
/** How long the service takes to stop after SHUTDOWN_DELAY: 25 s for requests in progress, and some to write counts and close connections. */
const SHUTDOWN_SECONDS = 30;

/** All manifests, except kustomizations, because they are no objects of a cluster. */
const found = filesOf(FOLDER, '.yaml')
  .filter((file) => !file.endsWith('kustomization.yaml'))
  .flatMap((file) => readYaml<Manifest>(file).map((manifest) => ({ file, manifest })));
function only<Kind>(kind: string): Kind {
  const [manifest, ...more] = found.filter((candidate) => candidate.manifest.kind === kind);
  expect([kind, more.length]).toEqual([kind, 0]);
  return manifest!.manifest as unknown as Kind;
}

const deployment = only<IDeployment>('Deployment');
const [backup] = only<ICronJob>('CronJob').spec!.jobTemplate.spec!.template.spec!.containers;
const environment = parseEnvironment(
  read(`${FOLDER}/settings.env`)
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .join('&'),
) as Record<string, string>;

it.each(found)('$file is valid against the schema of its kind', async ({ manifest }) => {
  const models = (await import(`kubernetes-models/${manifest.apiVersion}`)) as Record<string, Model>;
  expect(() => new models[manifest.kind]!(manifest).validate()).not.toThrow();
});

it('Each manifest is in a kustomization, and all roll out the same image in the same namespace', () => {
  const kustomizations = filesOf(FOLDER, 'kustomization.yaml').map((file) => ({
    folder: file.replace('kustomization.yaml', ''),
    ...readYaml<{ resources: string[]; images?: unknown[]; namespace: string }>(file)[0]!,
  }));
  const listed = kustomizations.flatMap(({ folder, resources }) => resources.map((name) => folder + name));
  expect(listed.toSorted()).toEqual(found.map(({ file }) => file).toSorted());
  expect(new Set(kustomizations.map(({ namespace }) => namespace)).size).toBe(1);
  const images = kustomizations.flatMap((one) => one.images ?? []);
  expect(images).toEqual([images[0], images[0]]);
});

const folder = useFolder();

it('The backup keeps the newest 14 dumps, and removes what killed runs have left', () => {
  const dumps = mkdtempSync(join(folder, 'backup-'));
  const script = backup!.args![0]!.replaceAll('/backups', dumps);
  const old = Array.from({ length: 15 }, (_, day) => `2026-01-${10 + day}T021700.dump`);
  [...old, '2026-01-09T021700.dump.partial'].forEach((name) => writeFileSync(join(dumps, name), ''));
  const [shell, option] = backup!.command!;
  const run = (server: number) => {
    const tools = `date() { echo 2026-01-25T021700; }
      psql() { echo ${server}; }
      pg_dump() { if [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) 18.4 (Debian)'; else echo dumped > "$3"; fi; }`;
    const env = { ...process.env, DATABASE_URL: 'postgres://x' };
    execFileSync(shell!, [option!, `${tools}\n${script}`], { env, stdio: 'pipe' });
  };
  run(18);
  const left = readdirSync(dumps);
  expect(left).toEqual([...old.slice(2), '2026-01-25T021700.dump']);
  expect(readFileSync(join(dumps, left.at(-1)!), 'utf8')).toBe('dumped\n');
  expect(() => run(15)).toThrow('The server has the major version 15: set the image to postgres:15.');
});

it('Text and images agree on the tools of the server: its own major version', () => {
  const { services } = readYaml<{ services: Record<string, { image: string }> }>('docker/compose.yaml')[0]!;
  const [, major] = /^postgres:(\d+)\./.exec(services.postgres!.image)!;
  expect(backup!.image).toBe(`postgres:${major}`);
  expect(read('docker/README.md')).toContain(`with PostgreSQL ${major} and Valkey`);
  expect(read('docs/operations/database.md')).toMatch(/use the tools of the server's own major version/);
});

it('A restore takes the newest dump, or the named one, with the tools of the backup', () => {
  const restore = found.find(({ manifest }) => manifest.metadata.name === 'petstore-restore')!;
  const [container] = (restore.manifest as unknown as IJob).spec!.template.spec!.containers;
  expect(container!.image).toBe(backup!.image);
  const dumps = mkdtempSync(join(folder, 'dumps-'));
  ['2026-01-09T021700.dump', '2026-01-10T021700.dump', '2026-01-11T021700.dump.partial'].forEach((name) => {
    writeFileSync(join(dumps, name), '');
  });
  const script = `pg_restore() { echo "$*"; }\n${container!.args![0]!.replaceAll('/backups', dumps)}`;
  const restored = (DUMP: string) =>
    execFileSync('sh', ['-ec', script], {
      env: { ...process.env, DUMP, DATABASE_URL: 'postgres://x' },
      encoding: 'utf8',
    });
  expect(restored('')).toMatch(/--dbname postgres:\/\/x \S+\/2026-01-10T021700\.dump\n$/);
  expect(restored('2026-01-09T021700.dump')).toMatch(/\/2026-01-09T021700\.dump\n$/);
});

it('The settings are settings of the service', () => {
  expect(readSettings(environment)).toMatchObject({ instances: 7, databasePool: 10, logLevel: 'info' });
});

it('Pods that count alone never allow more than the limit together, not even during a rollout', () => {
  const { maxReplicas } = only<IHorizontalPodAutoscaler>('HorizontalPodAutoscaler').spec!;
  const { maxSurge } = deployment.spec!.strategy!.rollingUpdate!;
  expect(Number(environment.INSTANCES)).toBe(maxReplicas + Number(maxSurge));
});

it('All pods together fit into the 100 connections of a default PostgreSQL', () => {
  expect(Number(environment.INSTANCES) * (Number(environment.DATABASE_POOL) + 2)).toBeLessThan(97);
});

it('A pod stops within its grace period, and serves until its load balancers have noticed', () => {
  const { spec } = deployment.spec!.template;
  const delay = Number(environment.SHUTDOWN_DELAY);
  const { periodSeconds, failureThreshold } = spec!.containers[0]!.readinessProbe!;
  expect(spec!.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(delay + SHUTDOWN_SECONDS);
  expect(delay).toBeGreaterThan(periodSeconds! * failureThreshold!);
});
