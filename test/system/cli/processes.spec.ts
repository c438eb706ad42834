import { exec } from 'node:child_process';
import { RunningCommand, cleanEnvironment, petstore, petstoreScript } from '../../support/command-line';
import { until } from '../../support/eventually';
import { read } from '../../support/files';
import { useCommandLine } from './support/use-command-line';

const { database, environment } = useCommandLine();

beforeAll(async () => {
  await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free')`);
  await database.pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
});

it('-v prints the version of the package, and the help names the program as it was called', async () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(await petstore(['-v'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  const { code, stdout } = await petstore(['keys', 'issue', '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: node \S+petstore\.js keys issue \[options\]\n[^]*Examples:\n/);
});

/** Runs a command with its output going where the shell is told. */
function inShell(command: string, target: string, setup = ''): Promise<{ code: number; stderr: string }> {
  const line = `${setup} "${process.execPath}" "${petstoreScript()}" ${command} ${target}`;
  return new Promise((resolve) => {
    const env = cleanEnvironment(environment);
    exec(line, { env, timeout: 250_000 }, (error, _stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stderr }),
    );
  });
}

describe('a failure to write output is reported in one line', () => {
  it('which names a key that could not be shown, so that it can be revoked', async () => {
    const { code, stderr } = await inShell('keys issue --client acme', '> /dev/full');
    const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM api_keys');
    const id = rows[0]!.id;
    expect(code).toBe(1);
    expect(stderr).toContain(
      `petstore: cannot write to standard output: no space left on device. Key ${id} was issued but could not be shown. Revoke it: `,
    );
    expect(stderr).toMatch(new RegExp(`petstore\\S* keys revoke ${id}\n$`));
  });

  it('but a closed pipe is not a failure', async () => {
    // The shell tells the code of the command itself on standard error, not that of its reader.
    const ended = await inShell('openapi', '; echo "ended $?" >&2; } | head -1', '{');
    expect(ended).toEqual({ code: 0, stderr: 'ended 0\n' });
  });
});

it('events --follow ends at Ctrl-C while it is still reading many new events', async () => {
  const EVENTS = 100_000;
  const insert = (count: number) =>
    database.pool.query(
      `INSERT INTO events (id, type, pet_id, data)
       SELECT gen_random_uuid(), 'pet.created', 1, '{}' FROM generate_series(1, $1::int)`,
      [count],
    );
  await insert(1);
  const follower = new RunningCommand(['events', '--follow'], environment, { cwd: '/' });
  // It shows what there is, and then follows.
  await until(() => follower.stdout !== '');
  const before = follower.stdout;
  await insert(EVENTS);
  await until(() => follower.stdout !== before);
  const { code, stdout, stderr } = await follower.end('SIGINT');
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Waiting for new events until Ctrl-C.\n' });
  expect(stdout.split('\n').length).toBeLessThan(EVENTS);
});
