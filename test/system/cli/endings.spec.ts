import { exec } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { RunningCommand, cleanEnvironment, petstoreScript } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-servers';
import { until } from '../../support/eventually';
import { query } from '../../support/query';
import { useProcesses } from '../../support/service-process';

const { processes, database } = useProcesses();
const embedded = processes.embedded();
const cwd = processes.folder('work');
const environment = {} as { DATABASE_URL: string };

const events = (count: number) =>
  `INSERT INTO events (id, type, pet_id, data)
   SELECT gen_random_uuid(), 'pet.created', 1, '{}' FROM generate_series(1, ${count})`;

beforeAll(async () => {
  environment.DATABASE_URL = database.url;
  const service = await processes.serve(embedded);
  await query(embeddedUrl(processes.path('store')), events(11_000));
  await service.end();
});
const isStopped = () => until(() => processes.postmaster() === undefined);

/** Runs a command in a shell, with what the line has around it. */
function inShell(line: string, settings: Record<string, string> = environment) {
  const program = `"${process.execPath}" "${petstoreScript()}"`;
  const options = { env: cleanEnvironment(settings), cwd, shell: '/bin/bash', timeout: 250_000 };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    exec(`set -o pipefail; ${line.replace('petstore', program)}`, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('a command that has started the database leaves no server', () => {
  it.each([
    ['clients list', 'SIGINT', 130],
    ['events --follow', 'SIGTERM', 143],
  ] as const)('%s, ended by %s as soon as it runs', async (command, signal, code) => {
    const running = new RunningCommand(command.split(' '), embedded, { cwd });
    await until(() => processes.postmaster() !== undefined);
    const outcome = await running.end(signal);
    // It may have been faster.
    expect([code, 0]).toContain(outcome.code);
    await isStopped();
  });

  it.each(['events --limit 10000 --json | head -c 1', 'events --follow --limit 10000 --json | head -n 1'])(
    '%s, for which a closed pipe is no failure',
    async (line) => {
      const { code, stdout, stderr } = await inShell(`petstore ${line}`, embedded);
      expect([code, stdout.length > 0, stderr]).toEqual([0, true, '']);
      await isStopped();
    },
  );

  it('db copy, by two signals that arrive as one, and no folder', async () => {
    const copying = new RunningCommand(['db', 'copy', '--to', processes.path('copy')], embedded, { cwd });
    const partial = () => readdirSync(processes.root).find((name) => name.startsWith('copy.'));
    await until(
      () => partial() !== undefined && existsSync(processes.path(partial()!, 'data', 'postmaster.pid')),
    );
    const server = processes.path(partial()!, 'data', 'postmaster.pid');
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

it('a key that could not be shown is named in one line, so that it can be revoked', async () => {
  await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free')`);
  const { code, stderr } = await inShell('petstore keys issue --client acme > /dev/full');
  const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM api_keys');
  const id = rows[0]!.id;
  expect(code).toBe(1);
  expect(stderr).toContain(
    `petstore: cannot write to standard output: no space left on device. Key ${id} was issued but could not be shown. Revoke it: `,
  );
  expect(stderr).toMatch(new RegExp(`petstore\\S* keys revoke ${id}\n$`));
});

it('an argument that is not UTF-8 is refused', async () => {
  const stderr = 'petstore: an argument is not UTF-8.\n';
  const outcome = await inShell(`petstore keys issue --client acme --name $'Zo\\xeb'`);
  expect(outcome).toEqual({ code: 2, stdout: '', stderr });
});

it('events --follow ends at Ctrl-C while it is still reading many new events', async () => {
  const EVENTS = 20_000;
  await database.pool.query(events(1));
  const follower = new RunningCommand(['events', '--follow'], environment, { cwd });
  // It shows what there is, and then follows.
  await until(() => follower.stdout !== '');
  const before = follower.stdout;
  // The follower waits in its first lines until the test reads on.
  const output = follower.child.stdout;
  output.once('data', () => output.pause());
  await database.pool.query(events(EVENTS));
  await until(() => follower.stdout !== before);
  const ending = follower.end('SIGINT');
  output.resume();
  const { code, stdout, stderr } = await ending;
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Waiting for new events until Ctrl-C.\n' });
  expect(stdout.split('\n').length).toBeLessThan(EVENTS);
});
