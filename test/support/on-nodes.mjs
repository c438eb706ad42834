// Runs the tests on other Nodes than the one at hand: `npm run test:nodes -- [--busy] [20 22 24] [-- options of jest]`.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { nodeOf } from './other-nodes.mjs';

const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
const [own, jestOptions] = split(process.argv.slice(2));
const majors = own.filter((argument) => /^\d+$/.test(argument));
const folder = mkdtempSync(join(tmpdir(), 'petstore-nodes-'));
// Tests also run it as other users.
chmodSync(folder, 0o755);
const spinning = own.includes('--busy')
  ? [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  : [];
// Otherwise they would keep this process alive, which ends them.
spinning.forEach((child) => child.unref());

process.on('exit', () => {
  spinning.forEach((child) => child.kill('SIGKILL'));
  rmSync(folder, { recursive: true, force: true });
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

const outcomes = (majors.length > 0 ? majors : ['20', '22', '24']).map((major) => {
  const node = nodeOf(major, folder);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`== Node ${version}${spinning.length > 0 ? ', beside two processes that spin' : ''}`);
  const begin = performance.now();
  // What a test starts by the name `node` is this one, too.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const { status } = spawnSync(node, [JEST, ...jestOptions], { stdio: 'inherit', env });
  const seconds = Math.round((performance.now() - begin) / 1_000);
  return { version, passed: status === 0, seconds };
});

outcomes.forEach(({ version, passed, seconds }) =>
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`),
);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

function split(all) {
  const end = all.indexOf('--');
  return end === -1 ? [all, []] : [all.slice(0, end), all.slice(end + 1)];
}
