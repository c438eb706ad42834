import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { complaint, petstore, petstoreJson } from '../../support/command-line';
import { until } from '../../support/eventually';
import { ROOT } from '../../support/files';
import { Receiver } from '../../support/receiver';
import { WEBHOOK_KEY } from '../../support/service';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let database: TestDatabase;
let receiver: Receiver;

const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT }).stdout?.toString().trim() ?? '';

/** The last version whose stores are in use: a release names the one before it here. */
const BEFORE = '9fb53cd26776';

/** Builds the program of the commit, with the packages of today. */
function checkOut(commit: string): { installation: string } {
  const installation = bench.folder('before');
  const parts = ['bin', 'docs', 'libs', 'src', 'package.json', 'nest-cli.json', 'tsconfig.json', '.swcrc'];
  const input = execFileSync('git', ['archive', commit, ...parts], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', installation], { input });
  symlinkSync(join(ROOT, 'node_modules'), join(installation, 'node_modules'));
  execFileSync(process.execPath, [join(installation, 'bin/petstore.js'), 'version']);
  return { installation };
}

afterAll(async () => {
  await bench.clear();
  await receiver?.stop();
  await database?.drop();
});

interface Made {
  id: number;
}

/** Every kind of thing that a client does. */
async function useAll(service: ServiceProcess, key: string): Promise<void> {
  const call = async (status: number, method: string, path: string, body?: object): Promise<Made> => {
    const response = await service.send(key, method, path, body);
    expect([method, path, response.status]).toEqual([method, path, status]);
    return (await response.json()) as Made;
  };
  await call(201, 'POST', '/webhooks', { url: receiver.url, types: ['order.placed'] });
  const { id: categoryId } = await call(201, 'POST', '/categories', { name: `Dogs ${Math.random()}` });
  const pet = await call(201, 'POST', '/pets', { name: 'Rex', categoryId });
  await call(200, 'PUT', `/pets/${pet.id}`, { name: 'Max', categoryId, status: 'available' });
  await call(200, 'PUT', `/store/inventory/${pet.id}`, { quantity: 5 });
  const order = await call(201, 'POST', '/store/orders', { petId: pet.id, quantity: 2 });
  expect(await call(200, 'GET', `/store/inventory/${pet.id}`)).toMatchObject({ quantity: 3 });
  for (const path of [`/store/orders/${order.id}`, '/pets?limit=1', '/key']) await call(200, 'GET', path);
  const feed = await call(200, 'GET', `/events?petId=${pet.id}`);
  expect(feed).toContainEqual(expect.objectContaining({ type: 'order.placed' }));
  await until(() => receiver.of('order.placed').some(({ event }) => event.data.id === order.id));
}

const commit = git('rev-parse', '--verify', '--quiet', BEFORE);
const title = 'A store of the version before is used after the newest migration (needs the git history)';
(commit || process.env.CI ? it : it.skip)(title, async () => {
  if (!commit) throw new Error('No git history: check out all commits (fetch-depth: 0).');
  const before = checkOut(commit);
  [database, receiver] = await Promise.all([createTestDatabase('template1'), Receiver.start()]);
  const environment = {
    DATABASE_URL: database.url,
    WEBHOOK_KEY,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'error',
  };
  const old = await bench.serve(environment, before);
  await petstore(['clients', 'create', '--name', 'acme', '--plan', 'pro'], environment, before);
  const issued = await petstore(['keys', 'issue', '--client', 'acme', '--json'], environment, before);
  const { key: first } = JSON.parse(issued.stdout) as { key: string };

  await useAll(old, first);
  expect(await old.end()).toEqual({ code: 0, signal: null });
  expect(old.log).toEqual([]);

  const { migrations } = await petstoreJson<{ migrations: string[] }>(['db', 'migrate'], environment);
  expect(migrations).not.toEqual([]);
  const current = await bench.serve(environment);
  const { key } = await petstoreJson<{ key: string }>(['keys', 'issue', '--client', 'acme'], environment);
  await useAll(current, first);
  await useAll(current, key);
  const refused = await petstore(['serve'], environment, before);
  expect(refused).toEqual(complaint(1, /probably newer version/));
});
