import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, caller, createPet, docker, failure, untilReady } from './support';

const [POSTGRES, IMAGE] = imagesOfCompose();
const NAME = 'petstore-image-walk';
const DATABASE = `${NAME}-postgres`;
const LOCKED_DOWN = [
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  `--network=${NAME}`,
];
const WITH_DATABASE = [
  ...LOCKED_DOWN,
  '-e',
  `DATABASE_URL=postgres://postgres:walk@${DATABASE}:5432/postgres`,
];

function imagesOfCompose(): [string, string] {
  const text = readFileSync('docker/compose.yaml', 'utf8');
  const image = (name: string) => new RegExp(`image: (${name}:\\S+)`).exec(text)![1]!;
  return [image('postgres'), image('petstore')];
}

let call: Call;
const once = (...command: string[]) => docker('run', '--rm', ...WITH_DATABASE, IMAGE, ...command);

beforeAll(async () => {
  await docker('network', 'create', NAME);
  await docker(
    ...['run', '-d', '--name', DATABASE, '--network', NAME],
    ...['-e', 'POSTGRES_PASSWORD=walk', POSTGRES],
  );
  for (let attempt = 0; attempt < 100; attempt++) {
    // By address: while the database is being made, it is listening on its socket only.
    if ((await failure(docker('exec', DATABASE, 'pg_isready', '-h', '127.0.0.1'))) === 'no failure') break;
    await pause(300);
  }
  await once('db', 'migrate');
  await docker(...['run', '-d', '--name', NAME, '-p', '127.0.0.1:0:3000'], ...[...WITH_DATABASE, IMAGE]);
  const address = await docker('port', NAME, '3000');
  await untilReady(address);
  await docker('exec', NAME, 'petstore', 'clients', 'create', '--name', 'acme', '--plan', 'free');
  const issued = await docker('exec', NAME, 'petstore', 'keys', 'issue', '--client', 'acme', '--json');
  call = caller(address, (JSON.parse(issued) as { key: string }).key);
});

afterAll(async () => {
  await docker('rm', '-fv', NAME, DATABASE);
  await docker('network', 'rm', NAME);
});

it('Reports a missing DATABASE_URL', async () => {
  const message = await failure(docker('run', '--rm', ...LOCKED_DOWN, IMAGE));
  expect(message).toMatch(/^petstore: DATABASE_URL is not set[^\n]*\n$/);
});

it('The help names the command as it is called in the container', async () => {
  const help = await once('keys', 'issue', '--help');
  expect(help).toContain('\n  petstore keys issue');
  expect(help).not.toContain('npx');
});

it('Pets can be created and ordered, and the page is served', async () => {
  const petId = await createPet(call);
  const order = await call('POST', '/store/orders', { petId });
  expect(order.status).toBe(201);
  expect(await order.json()).toMatchObject({ petId, quantity: 1 });
  for (const path of [
    '/docs',
    '/docs/guides',
    '/swagger/swagger-ui-bundle.js',
    '/openapi.json',
    '/health/live',
  ]) {
    expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
  }
});
