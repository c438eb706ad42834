import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, complaint, petstore, petstoreScript } from '../../support/command-line';
import { letOthersRead } from '../../support/embedded-servers';
import { ROOT } from '../../support/files';
import { installation } from '../../support/installation';
import { useProcesses } from '../../support/service-process';
import { SpawnedProcess } from '../../support/spawned-process';

const SOURCES = ['bin', 'libs', 'src', 'package.json', '.npmrc', '.swcrc', 'nest-cli.json', 'tsconfig.json'];

const { processes, database } = useProcesses();
const checkout = processes.folder.make('checkout');

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});

it('a checkout that is not built says so in one line, and `npm start` builds and serves it', async () => {
  const isNotBuilt = complaint(1, /it is not built yet\. Run npm start/);
  expect(await petstore(['version'], {}, { installation: checkout })).toEqual(isNotBuilt);
  expect(await petstore(['serve'], {}, { installation: checkout })).toEqual(isNotBuilt);

  const env = cleanEnvironment({ DATABASE_URL: database.url });
  const npm = new SpawnedProcess(['npm', 'start'], { cwd: checkout, env, detached: true });
  await npm.printed(() => npm.lines.find((line) => line.includes('Pet Store is ready.')));
  process.kill(-npm.child.pid!, 'SIGINT');
  await npm.ended;

  // A command neither builds later edits, which only `npm start` does, nor needs to write into the checkout.
  writeFileSync(join(checkout, 'src/runtime/broken.ts'), 'export const broken = ;\n');
  letOthersRead(checkout);
  const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  for (const [args, printed] of [
    ['-v', /^1\.0\.0\n$/],
    // The help shows the command line by which the program was called.
    ['keys issue --help', /^Usage: node \S+petstore\.js keys issue \[options\] <client>\n/],
  ] as const) {
    const command = [petstoreScript(checkout), ...args.split(' ')];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: '/', env, ...stranger });
    expect([status, stdout.toString(), stderr.toString()]).toEqual([0, expect.stringMatching(printed), '']);
  }
});

it('commands keep their compiled code, and do without where it is damaged', async () => {
  const copy = processes.folder.make('copy');
  cpSync(installation(), copy, { recursive: true, filter: (file) => !file.endsWith('.compiled') });
  const version = () => petstore(['version'], {}, { installation: copy });
  const printed = await version();
  const entries = readdirSync(join(copy, 'dist/.compiled'), { recursive: true, withFileTypes: true });
  const kept = entries.filter((entry) => entry.isFile());
  expect(kept).not.toEqual([]);
  for (const { parentPath, name } of kept) writeFileSync(join(parentPath, name), 'damaged');
  expect(await version()).toEqual(printed);
  expect(printed.code).toBe(0);
});

it('`npm start` after a production install starts what is built, or says in one line what is missing', async () => {
  const production = processes.folder.make('production');
  for (const name of ['bin', 'package.json', '.npmrc']) {
    cpSync(join(ROOT, name), join(production, name), { recursive: true });
  }
  const start = () => {
    const { status, stderr } = spawnSync('npm', ['-s', 'start'], {
      cwd: production,
      env: cleanEnvironment({ PORT: '6000' }),
    });
    return [status, stderr.toString()];
  };
  expect(start()).toEqual([
    1,
    expect.stringMatching(/^petstore: it is not built yet, and .* Run npm ci .*\n$/),
  ]);
  cpSync(join(installation(), 'dist'), join(production, 'dist'), { recursive: true });
  const packages = readdirSync(join(ROOT, 'node_modules')).filter((name) => name !== '.bin');
  mkdirSync(join(production, 'node_modules'));
  packages.forEach((name) =>
    symlinkSync(join(ROOT, 'node_modules', name), join(production, 'node_modules', name)),
  );
  expect(start()).toEqual([1, expect.stringMatching(/^petstore: PORT takes .*\n$/)]);
});

it('a command whose working directory is gone says so in one line', () => {
  const gone = processes.folder.make('gone');
  const script = `mkdir -p ${gone}; cd ${gone}; rmdir ${gone}; exec ${process.execPath} ${petstoreScript()} serve`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { env: cleanEnvironment({}) });
  const line = 'petstore: the working directory is gone. Change to a folder that exists, and try again.\n';
  expect([status, stdout.toString(), stderr.toString()]).toEqual([1, '', line]);
});
