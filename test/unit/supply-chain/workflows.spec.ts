import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read, readYaml } from '../../support/files';
import * as programs from '../../support/programs';

interface Job {
  permissions?: Record<string, string>;
  steps: { run?: string; uses?: string }[];
}

const FOLDER = '.github/workflows';
const files = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);
const jobs = files.flatMap((file) => {
  const [workflow] = readYaml<{ jobs: Record<string, Job> }>(file) as [{ jobs: Record<string, Job> }];
  return Object.values(workflow.jobs);
});

it('Actions are pinned by commit, with their version', () => {
  const lines = files.flatMap((file) => read(file).match(/uses: .*/g) ?? []);
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !/@[\da-f]{40} # v[\d.]+$/.test(line))).toEqual([]);
});

it('No package runs a script in a job that can have an identity token', () => {
  const trusted = jobs.filter(({ permissions }) => permissions?.['id-token'] === 'write');
  expect(trusted.length).toBeGreaterThan(0);
  const installs = trusted.flatMap(({ steps }) =>
    steps.flatMap(({ run = '' }) => run.match(/npm (ci|install)[^&]*/g) ?? []),
  );
  expect(installs.filter((install) => !install.includes('--ignore-scripts'))).toEqual([]);
});

it('The workflow installs every program that the tests need, but for the browser, which runners have', () => {
  const wanted = Object.values(programs)
    .flatMap((program) => (typeof program === 'object' ? program.debianPackage : []))
    .filter((name) => name !== programs.CHROMIUM.debianPackage);
  const [, installed = ''] = /--no-install-recommends (.+)/.exec(read(`${FOLDER}/check.yml`))!;
  expect(installed.split(' ').toSorted()).toEqual(wanted.toSorted());
});
