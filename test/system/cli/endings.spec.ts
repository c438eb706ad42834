import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import {
  RunningCommand,
  cleanEnvironment,
  complaint,
  petstore,
  petstoreScript,
} from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-postgres-bench';
import { query } from '../../support/query';
import { ServiceBench, until } from '../../support/service-process';
import { runCommand } from './support/use-command-line';

const bench = new ServiceBench();
const environment = bench.embedded();
const cwd = bench.folder('work');

beforeAll(async () => {
  const service = await bench.serve(environment);
  await query(
    embeddedUrl(bench.path('store')),
    `INSERT INTO events (id, type, pet_id, data)
     SELECT gen_random_uuid(), 'pet.created', 1, '{}' FROM generate_series(1, 11000)`,
  );
  await service.end();
});
afterAll(() => bench.clear());

const isStopped = () => until(() => bench.postmaster() === undefined);

describe('a command that has started the database leaves no server', () => {
  it.each([
    ['clients list', 'SIGINT', 130],
    ['db status', 'SIGHUP', 129],
    ['events --follow', 'SIGTERM', 143],
  ] as const)('%s, ended by %s as soon as it runs', async (command, signal, code) => {
    const running = new RunningCommand(command.split(' '), environment, { cwd });
    await until(() => bench.postmaster() !== undefined);
    const outcome = await running.end(signal);
    // It may have been faster.
    expect([code, 0]).toContain(outcome.code);
    await isStopped();
  });

  it.each(['events --limit 10000 --json | head -c 1', 'events --follow --limit 10000 --json | head -n 1'])(
    '%s',
    async (command) => {
      const line = `set -o pipefail; "${process.execPath}" "${petstoreScript()}" ${command}`;
      const env = cleanEnvironment(environment);
      const { stdout, stderr } = await promisify(exec)(line, { env, cwd, shell: '/bin/bash' });
      expect([stdout.length > 0, stderr]).toEqual([true, '']);
      await isStopped();
    },
  );

  it('db copy, by two signals that arrive as one, and no folder', async () => {
    const copying = new RunningCommand(['db', 'copy', '--to', bench.path('copy')], environment, { cwd });
    const partial = () => readdirSync(bench.root).find((name) => name.startsWith('copy.'));
    await until(
      () => partial() !== undefined && existsSync(bench.path(partial()!, 'data', 'postmaster.pid')),
    );
    const server = bench.path(partial()!, 'data', 'postmaster.pid');
    copying.child.kill('SIGHUP');
    const { code, stderr } = await copying.end('SIGHUP');
    expect({ code, stderr }).toEqual({
      code: 129,
      stderr: 'petstore: interrupted; the target was not changed.\n',
    });
    expect([partial(), existsSync(server)]).toEqual([undefined, false]);
    await isStopped();
  });
});

describe('a path that somebody types', () => {
  it('is written out', async () => {
    for (const [command, reason] of [
      ['export ~/x', /"~\/x" is not a path that is written out/],
      ['import $HOME/x', /"\$HOME\/x" is not a path that is written out/],
      ['db copy --to ~/x', /"~\/x" is not a path that is written out/],
    ] as const) {
      expect(await runCommand(command.split(' '), environment)).toEqual(complaint(2, reason));
    }
  });

  it('is followed if it is a link', async () => {
    mkdirSync(bench.path('work', 'real'));
    writeFileSync(bench.path('work', 'real', 'there'), '');
    symlinkSync('real/there', bench.path('work', 'link'));
    const exported = await petstore(['export', 'link', '--force'], environment, { cwd });
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(bench.path('work', 'real', 'there')).size).toBeGreaterThan(1_000);
  });
});

it('an argument that is not UTF-8 is refused', async () => {
  const line = `"${process.execPath}" "${petstoreScript()}" keys issue --client demo --name $'Zo\\xeb'`;
  const env = cleanEnvironment(environment);
  await expect(promisify(exec)(line, { env, cwd, shell: '/bin/bash' })).rejects.toMatchObject({
    code: 2,
    stderr: 'petstore: an argument is not UTF-8.\n',
  });
});
