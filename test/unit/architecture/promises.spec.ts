import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, useFolder } from '../../support/files';

const folder = useFolder();

/** Ways to start work whose rejection nobody handles, so that it would end the process. */
const PLANTED = [
  `work();`,
  `void work();`,
  `void work().then(() => undefined);`,
  `export const start = () => void work();`,
  `setInterval(() => void work(), 1_000);`,
  `setInterval(work, 1_000);`,
  `process.on('message', async () => { await work(); });`,
  `[1].forEach(() => work());`,
];
const HANDLED = [`work().catch(() => undefined);`, `export const wait = async () => { await work(); };`];

/** The numbers of the lines to which the linter objects. */
function objections(lines: string[]): number[] {
  ['tsconfig.json', '.oxlintrc.json'].forEach((file) => copyFileSync(join(ROOT, file), join(folder, file)));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'src'));
  const declaration = 'declare function work(): Promise<void>;';
  writeFileSync(join(folder, 'src/planted.ts'), [...lines, declaration].join('\n'));
  const linter = join(ROOT, 'node_modules/.bin/oxlint');
  const { stdout } = spawnSync(linter, ['--format', 'unix', 'src'], { cwd: folder, encoding: 'utf8' });
  return [...stdout.matchAll(/planted\.ts:(\d+):/g)].map(([, line]) => Number(line));
}

it('No promise is left without a handler of its rejection: the linter objects, also to void', () => {
  const found = objections([...PLANTED, ...HANDLED]);
  expect([...new Set(found)].sort((one, other) => one - other)).toEqual(PLANTED.map((_line, at) => at + 1));
});
