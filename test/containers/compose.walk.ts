import { caller, createPet, docker } from './support';

const PROJECT = 'petstore-walk';
const compose = (...args: string[]) => docker('compose', '-p', PROJECT, '-f', 'docker/compose.yaml', ...args);
const petstore = (...args: string[]) => compose('exec', '-T', 'store-one', 'petstore', ...args);

beforeAll(async () => {
  Object.assign(process.env, {
    POSTGRES_PASSWORD: 'walkone',
    PETSTORE_DATABASE_PASSWORD: 'walktwo',
    VALKEY_PASSWORD: 'walkthree',
    WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
    PETSTORE_PORT: '0',
  });
  await compose('up', '-d', '--wait');
});

afterAll(() => compose('down', '--volumes'));

it('Replacing an instance under load loses no request', async () => {
  const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
  await petstore('clients', 'create', '--name', 'crowd', '--plan', 'enterprise', ...limits);
  const { key } = JSON.parse(await petstore('keys', 'issue', '--client', 'crowd', '--json')) as {
    key: string;
  };
  const call = caller(await compose('port', 'proxy', '8080'), key);
  const petId = await createPet(call);
  const before = await compose('ps', '-q', 'store-one');

  let stop = false;
  let answered = 0;
  const lost: unknown[] = [];
  const load = async () => {
    while (!stop) {
      for (const [method, path, body] of [
        ['GET', `/pets/${petId}`, undefined],
        ['POST', '/categories', { name: 'Cats' }],
      ] as const) {
        const outcome = await call(method, path, body).then(
          async (answer) => (await answer.text(), answer.status),
          String,
        );
        if (outcome === 200 || outcome === 201) {
          answered++;
        } else {
          lost.push(outcome);
        }
      }
    }
  };
  const callers = Array.from({ length: 8 }, load);
  await compose('up', '-d', '--no-deps', '--wait', '--force-recreate', 'store-one');
  stop = true;
  await Promise.all(callers);

  expect(await compose('ps', '-q', 'store-one')).not.toBe(before);
  process.stdout.write(
    `${answered} requests were answered while the instance was replaced, ${lost.length} were lost.\n`,
  );
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(500);
});

it('Both instances stop cleanly', async () => {
  await compose('stop', 'store-one', 'store-two');
  const ids = (await compose('ps', '-aq', 'store-one', 'store-two')).split('\n');
  expect(await docker('inspect', '--format', '{{.State.ExitCode}}', ...ids)).toBe('0\n0');
});
