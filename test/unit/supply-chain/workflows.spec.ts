import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from '../../support/files';
import * as programs from '../../support/programs';

const FOLDER = '.github/workflows';
const files = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);

it('Actions are pinned by commit, with their version', () => {
  const lines = files.flatMap((file) => read(file).match(/uses: .*/g) ?? []);
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !/@[\da-f]{40} # v[\d.]+$/.test(line))).toEqual([]);
});

it('The workflow installs every program that the tests need, but for the browser, which runners have', () => {
  const wanted = Object.values(programs)
    .flatMap((program) => (typeof program === 'object' ? program.debianPackage : []))
    .filter((name) => name !== programs.CHROMIUM.debianPackage);
  const [, installed = ''] = /--no-install-recommends (.+)/.exec(read(`${FOLDER}/check.yml`))!;
  expect(installed.split(' ').toSorted()).toEqual(wanted.toSorted());
});
