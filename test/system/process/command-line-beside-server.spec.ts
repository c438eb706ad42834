import { petstore, petstoreJson, petstoreProcess } from '../../support/command-line';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { until } from '../../support/eventually';

const bench = new ServiceBench();
const environment = bench.embedded();
let service: ServiceProcess;

beforeAll(async () => {
  service = await bench.serve(environment);
  await petstoreJson(['clients', 'create', '--name', 'acme', '--plan', 'pro'], environment);
});

afterAll(() => bench.clear());

interface IssuedKey {
  id: number;
  key: string;
}

const issue = () => petstoreJson<IssuedKey>(['keys', 'issue', '--client', 'acme'], environment);

describe('the CLI beside a running server on the embedded database', () => {
  it('issues a key that works at once, and leaves the database running', async () => {
    const postmaster = bench.postmaster();
    const { key } = await issue();
    expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
    expect(bench.postmaster()).toBe(postmaster);
  });

  it('revokes a key', async () => {
    const { id, key } = await issue();
    expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
    expect((await petstore(['keys', 'revoke', String(id), '--yes'], environment)).code).toBe(0);
    await until(async () => (await service.send(key, 'GET', '/pets')).status === 401);
  });

  it('keeps the database up when the server stops while a command runs', async () => {
    const commands = [1, 2, 3].map(() => petstoreProcess(['clients', 'list', '--json'], environment));
    const ending = service.end();
    for (const { code, stdout } of await Promise.all(commands)) {
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ name: 'demo' }, { name: 'acme' }]);
    }
    expect(await ending).toEqual({ code: 0, signal: null });
    expect(bench.postmaster()).toBeUndefined();
  });
});
