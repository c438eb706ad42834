import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Bench } from '../../../support/embedded-postgres-bench';
import { makeCheckout } from '../../../support/checkout';

const bench = new Bench();

afterAll(() => bench.clear());

/**
 * A process which adds one to a number in a file, under the lock, again and again. It reads, waits and writes,
 * so two at a time would lose some, and it notes in another file, in one write, what it has added.
 */
const ADDER = `
const fs = require('node:fs');
const { withLock } = require(process.argv[2] + '/sharing.js');
const [folder, rounds] = [process.argv[3], Number(process.argv[4])];
(async () => {
  for (let round = 0; round < rounds; round++) {
    await withLock(folder + '/lock', () => {}, async () => {
      fs.writeFileSync(folder + '/inside', String(process.pid), { flag: 'wx' });
      const number = Number(fs.readFileSync(folder + '/number', 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 1));
      fs.writeFileSync(folder + '/number', String(number + 1));
      fs.rmSync(folder + '/inside');
    });
  }
})().catch((error) => { console.error(error); process.exit(1); });
`;

/** Dies by kill -9 of itself while it holds the lock, or while it draws a number. */
const VICTIM = `
const fs = require('node:fs');
const { withLock } = require(process.argv[2] + '/sharing.js');
const die = () => process.kill(process.pid, 'SIGKILL');
if (process.argv[4] === 'drawing') { const { readdirSync } = fs; fs.readdirSync = (...a) => (die(), readdirSync(...a)); }
withLock(process.argv[3] + '/lock', () => {}, async () => die());
`;

function run(script: string, args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => child.once('exit', resolve));
}

it('admits one process at a time, even while others die holding it', async () => {
  const { entry } = makeCheckout(bench.path('checkout'));
  const library = join(entry, '..');
  for (const [name, text] of [
    ['adder.js', ADDER],
    ['victim.js', VICTIM],
  ] as const) {
    fs.writeFileSync(bench.path(name), text);
  }
  fs.writeFileSync(bench.path('number'), '0');
  const adders = Array.from({ length: 6 }, () => run(bench.path('adder.js'), [library, bench.root, '30']));
  for (const when of ['inside', 'drawing', 'inside', 'drawing']) {
    expect(await run(bench.path('victim.js'), [library, bench.root, when])).toBeNull();
  }
  expect(await Promise.all(adders)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(fs.readFileSync(bench.path('number'), 'utf8')).toBe('180');
});
