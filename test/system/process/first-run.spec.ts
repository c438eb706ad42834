import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { ServiceBench } from '../../support/service-process';

const bench = new ServiceBench();

afterAll(() => bench.clear());

describe('a start on an empty embedded database', () => {
  it('shows all addresses, shows a key once, and a command that works', async () => {
    const first = await bench.serve(bench.embedded());
    const key = first.firstKey!;
    expect(first.stdout).toContain(`\n  Service    ${first.url}\n`);
    expect(first.stdout).toContain(`\n  Docs       ${first.url}/docs\n`);
    expect(first.stdout).toContain(`\n  OpenAPI    ${first.url}/openapi.json\n`);
    expect(first.stdout.match(new RegExp(`^  ${key}$`, 'gm'))).toHaveLength(1);
    for (const address of [`${first.url}/docs`, `${first.url}/openapi.json`]) {
      expect((await fetch(address)).status).toBe(200);
    }

    const [command] = /^ +curl .+$/m.exec(first.stdout)!;
    const { stdout } = await promisify(exec)(`${command} --silent --show-error`);
    const [head = '', body = ''] = stdout.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(JSON.parse(body)).toHaveLength(3);
    expect(await first.end()).toEqual({ code: 0, signal: null });

    const second = await bench.serve(bench.embedded());
    expect(second.stdout).toContain('petstore.js keys issue --client ');
    expect(second.stdout + second.stderr).not.toContain('psk_live_');
    expect((await second.send(key, 'GET', '/pets?limit=1')).status).toBe(200);
    expect(await second.end()).toEqual({ code: 0, signal: null });
  });
});
