import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read, readYaml, useFolder } from '../../support/files';
import { PROMTOOL, findProgram } from '../../support/programs';

interface Dashboard {
  panels: { targets?: { expr: string }[] }[];
}

const dashboard = JSON.parse(read('docker/grafana/petstore.json')) as Dashboard;
/** Grafana puts a value in for its variable before Prometheus reads the expression. */
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
