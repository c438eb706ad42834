import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { cleanEnvironment, petstore, petstoreScript } from '../../support/command-line';

/** The interface description needs no database: this one would be refused. */
const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };

describe('openapi', () => {
  it('prints the document, as JSON and as YAML, without server and database', async () => {
    const [json, yaml] = await Promise.all([
      petstore(['openapi'], environment),
      petstore(['openapi', '--yaml'], environment),
    ]);
    expect([json.code, json.stderr, yaml.code, yaml.stderr]).toEqual([0, '', 0, '']);
    const document = JSON.parse(json.stdout) as object;
    expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.0.0' } });
    expect(Object.keys(document)).toContain('paths');
    expect(yaml.stdout).toMatch(/^openapi: 3\.0\.3\n/);
    expect(parse(yaml.stdout)).toEqual(document);
  });

  it('lets its reader stop early', async () => {
    const command = `"${process.execPath}" "${petstoreScript()}" openapi | head -c 20`;
    const { stdout, stderr } = await promisify(exec)(command, { env: cleanEnvironment(environment) });
    expect([stdout.length, stderr]).toEqual([20, '']);
  });
});
