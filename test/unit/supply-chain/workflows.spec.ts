import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read, readYaml } from '../../support/files';
import { CHROMIUM, FAKETIME, LOCALES, PROGRAMS } from '../../support/programs';

const FOLDER = '.github/workflows';
const files = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);

it('Actions are pinned by commit, with their version', () => {
  const lines = files.flatMap((file) => read(file).match(/uses: .*/g) ?? []);
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !/@[\da-f]{40} # v[\d.]+$/.test(line))).toEqual([]);
});

it('The workflow installs every program that the tests need, but for the browser, which runners have', () => {
  const wanted = [...PROGRAMS, FAKETIME, LOCALES].filter((program) => program !== CHROMIUM);
  const [, installed = ''] = /--no-install-recommends (.+)/.exec(read(`${FOLDER}/check.yml`))!;
  expect(installed.split(' ').toSorted()).toEqual(wanted.map((one) => one.debianPackage).toSorted());
});

it('Nothing of others is installed or run where a token vouches for the repository', () => {
  interface Job {
    permissions?: Record<string, string>;
    steps: { run?: string; uses?: string }[];
  }
  const jobs = files.flatMap((file) => Object.values(readYaml<{ jobs: Record<string, Job> }>(file)[0]!.jobs));
  const vouching = jobs.filter(({ permissions }) => permissions?.['id-token'] === 'write');
  expect(vouching).toHaveLength(1);
  for (const { run = '', uses = '' } of vouching.flatMap(({ steps }) => steps)) {
    expect(run).not.toMatch(/npm (ci|install|run|exec|test)|npx/);
    expect(uses).not.toContain('checkout');
  }
});
