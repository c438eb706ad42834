import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const PROJECT = 'petstore-walk';
const [, IMAGE = ''] = /image: (petstore:\S+)/.exec(readFileSync('docker/compose.yaml', 'utf8'))!;

/** Runs `docker` with these arguments. @returns its standard output, or throws with its standard error */
async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)('docker', args, { env: process.env })).stdout.trim();
}

const compose = (...args: string[]) => docker('compose', '-p', PROJECT, '-f', 'docker/compose.yaml', ...args);
const petstore = (...args: string[]) => compose('exec', '-T', 'store-one', 'petstore', ...args);

/** The URL of the service behind the proxy, and the key of a client. */
let url: string;
let key: string;

beforeAll(async () => {
  Object.assign(process.env, {
    POSTGRES_PASSWORD: 'walkone',
    PETSTORE_DATABASE_PASSWORD: 'walktwo',
    PETSTORE_MONITOR_PASSWORD: 'walkmonitor',
    VALKEY_PASSWORD: 'walkthree',
    WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
    PETSTORE_PORT: '0',
  });
  await compose('up', '-d', '--build', '--wait');
  await petstore('clients', 'create', '--name', 'acme', '--plan', 'free');
  const issued = await petstore('keys', 'issue', '--client', 'acme', '--json');
  ({ key } = JSON.parse(issued) as { key: string });
  url = `http://${await compose('port', 'proxy', '8080')}`;
});

afterAll(() => compose('down', '--volumes'));

async function post(path: string, body: object): Promise<{ id: number }> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(20_000);
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  expect([path, answer.status]).toEqual([path, 201]);
  return (await answer.json()) as { id: number };
}

async function orderPet(): Promise<void> {
  const { id: categoryId } = await post('/categories', { name: 'Dogs' });
  const { id: petId } = await post('/pets', { name: 'Rex', categoryId });
  await post('/store/orders', { petId });
}

it('The image reports a missing DATABASE_URL, and its help names the command as it is called there', async () => {
  const options = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
  await expect(docker('run', '--rm', ...options, IMAGE)).rejects.toMatchObject({
    stderr: expect.stringMatching(/^petstore: DATABASE_URL is not set[^\n]*\n$/) as string,
  });
  const help = await petstore('keys', 'issue', '--help');
  expect(help).toContain('\n  petstore keys issue');
  expect(help).not.toContain('npx');
});

it('Pages are served through the proxy', async () => {
  for (const path of ['/docs', '/docs/guides', '/swagger/swagger-ui-bundle.js', '/openapi.json']) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
  }
});

it('A pet is ordered through the proxy while one of the instances is replaced', async () => {
  const before = await compose('ps', '-q', 'store-one');
  const replaced = compose('up', '-d', '--no-deps', '--wait', '--force-recreate', 'store-one');
  await orderPet();
  await replaced;
  await orderPet();
  expect(await compose('ps', '-q', 'store-one')).not.toBe(before);
});

it('Both instances stop cleanly', async () => {
  await compose('stop', 'store-one', 'store-two');
  const ids = (await compose('ps', '-aq', 'store-one', 'store-two')).split('\n');
  expect(await docker('inspect', '--format', '{{.State.ExitCode}}', ...ids)).toBe('0\n0');
});
