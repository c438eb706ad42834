import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentedFleet } from '../../support/haproxy';
import { HAPROXY, findProgram } from '../../support/programs';
import { read } from '../../support/files';

/** The directives of a section, without names and addresses. */
function section(configuration: string, name: string): string[] {
  const lines = configuration.split('\n');
  const start = lines.findIndex((line) => line.split(' ')[0] === name);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^\S/.test(line) && !line.startsWith('#'));
  return (end === -1 ? rest : rest.slice(0, end))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(#|server |bind )/.test(line));
}

const deployed = read('docker/haproxy/haproxy.cfg');

/** @returns what HAProxy itself has against a configuration; warnings (of names that only a container knows) are none */
function refusal(configuration: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-proxy-'));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const { status, stderr } = spawnSync(findProgram(HAPROXY)!, ['-c', '-f', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return status === 0 ? '' : stderr;
}

it('HAProxy accepts the configuration', () => {
  expect(refusal(deployed)).toBe('');
});

it.each(['defaults', 'backend'])('The proxy has the %s of the documented fleet', async (name) => {
  const directives = section((await documentedFleet()).configuration, name);
  expect(directives.length).toBeGreaterThan(0);
  expect(section(deployed, name)).toEqual(expect.arrayContaining(directives));
});

it('The proxy checks the readiness of exactly the instances in the compose file', () => {
  const servers = [...deployed.matchAll(/^ {2}server \w+ (\S+)/gm)].map(([, address]) => address);
  expect(servers).toEqual(['store-one:3000', 'store-two:3000']);
});

it("The proxy's own responses are Error objects with their status", () => {
  const answers = [
    ...deployed.matchAll(/http-error status (\d+) content-type (\S+) string '([^']+)' hdr Retry-After \d+/g),
  ];
  expect(answers.map(([, status, type]) => [status, type])).toEqual(
    ['502', '503', '504'].map((status) => [status, 'application/json']),
  );
  for (const [, status, , body = ''] of answers) {
    expect(JSON.parse(body)).toEqual({
      code: 'service_unavailable',
      message: expect.any(String) as string,
      status: Number(status),
    });
  }
});

it('Callers cannot forge their address', () => {
  expect(section(deployed, 'frontend')).toContain('http-request del-header X-Forwarded-For');
  expect(section(deployed, 'defaults')).toContain('option forwardfor');
});
