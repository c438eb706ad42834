import { caller, createPet, docker } from './support';

const PROJECT = 'petstore-walk';
const compose = (...args: string[]) => docker('compose', '-p', PROJECT, '-f', 'docker/compose.yaml', ...args);
const petstore = (...args: string[]) => compose('exec', '-T', 'store-one', 'petstore', ...args);

beforeAll(async () => {
  Object.assign(process.env, {
    POSTGRES_PASSWORD: 'walkone',
    PETSTORE_DATABASE_PASSWORD: 'walktwo',
    PETSTORE_MONITOR_PASSWORD: 'walkmonitor',
    VALKEY_PASSWORD: 'walkthree',
    WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
    PETSTORE_PORT: '0',
  });
  await compose('up', '-d', '--wait');
});

afterAll(() => compose('down', '--volumes'));

it('A pet is created through the proxy while one of the instances is replaced', async () => {
  await petstore('clients', 'create', '--name', 'acme', '--plan', 'free');
  const issued = await petstore('keys', 'issue', '--client', 'acme', '--json');
  const call = caller(await compose('port', 'proxy', '8080'), (JSON.parse(issued) as { key: string }).key);
  const before = await compose('ps', '-q', 'store-one');
  const replaced = compose('up', '-d', '--no-deps', '--wait', '--force-recreate', 'store-one');
  await createPet(call);
  await replaced;
  await createPet(call);
  expect(await compose('ps', '-q', 'store-one')).not.toBe(before);
});

it('Both instances stop cleanly', async () => {
  await compose('stop', 'store-one', 'store-two');
  const ids = (await compose('ps', '-aq', 'store-one', 'store-two')).split('\n');
  expect(await docker('inspect', '--format', '{{.State.ExitCode}}', ...ids)).toBe('0\n0');
});
