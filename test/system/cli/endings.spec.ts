import { exec } from 'node:child_process';
import { tmpdir } from 'node:os';
import { RunningCommand, cleanEnvironment, petstoreScript } from '../../support/command-line';
import { until } from '../../support/eventually';
import { useDatabase } from '../../support/test-database';

const database = useDatabase();
const environment = () => ({ DATABASE_URL: database.url });

/** Runs a command in a shell, with what the line has around it. */
function inShell(line: string) {
  const program = `"${process.execPath}" "${petstoreScript()}"`;
  const options = {
    env: cleanEnvironment(environment()),
    cwd: tmpdir(),
    shell: '/bin/bash',
    timeout: 250_000,
  };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    exec(line.replace('petstore', program), options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

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
  const add = (count: number) =>
    database.pool.query(
      `INSERT INTO events (id, type, data)
       SELECT gen_random_uuid(), 'pet.created', '{}' FROM generate_series(1, ${count})`,
    );
  await add(1);
  const follower = new RunningCommand(['events', '--follow'], environment());
  // It shows what there is, and then follows.
  await until(() => follower.stdout !== '');
  const before = follower.stdout;
  // The follower waits in its first lines until the test reads on.
  const output = follower.child.stdout;
  output.once('data', () => output.pause());
  await add(EVENTS);
  await until(() => follower.stdout !== before);
  const ending = follower.end('SIGINT');
  output.resume();
  const { code, stdout, stderr } = await ending;
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Waiting for new events until Ctrl-C.\n' });
  expect(stdout.split('\n').length).toBeLessThan(EVENTS);
});
