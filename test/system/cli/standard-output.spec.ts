import { exec } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutputFailure, isReaderGone, writeWhole } from '../../../src/cli/command/files';
import { cleanEnvironment, petstoreScript } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const NO_SPACE = 'cannot write to standard output: no space left on device.';
const folder = mkdtempSync(join(tmpdir(), 'petstore-output-'));
const { database, environment } = useCommandLine();

beforeAll(async () => {
  await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free')`);
  await database.pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command with its output going where the shell is told, and perhaps less room for files (in blocks). */
function inShell(command: string, target: string, setup = ''): Promise<{ code: number; stderr: string }> {
  const line = `${setup} "${process.execPath}" "${petstoreScript()}" ${command} ${target}`;
  return new Promise((resolve) => {
    const env = cleanEnvironment(environment);
    exec(line, { env, timeout: 250_000 }, (error, _stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stderr }),
    );
  });
}

describe('a failure to write output is reported in one line', () => {
  it.each(['clients list', 'export'])('petstore %s', async (command) => {
    expect(await inShell(command, '> /dev/full')).toEqual({ code: 1, stderr: `petstore: ${NO_SPACE}\n` });
  });

  it('even after part of the output was written', async () => {
    const file = join(folder, 'openapi.yaml');
    const { code, stderr } = await inShell('openapi --yaml', `> "${file}"`, 'ulimit -f 8;');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'petstore: cannot write to standard output: file too large.\n',
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^openapi: 3\.0\.3\n/);
  });

  it('and names a key that could not be shown, so that it can be revoked', async () => {
    const { code, stderr } = await inShell('keys issue --client acme', '> /dev/full');
    const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM api_keys');
    const id = rows[0]!.id;
    expect(code).toBe(1);
    expect(stderr).toContain(
      `petstore: ${NO_SPACE} Key ${id} was issued but could not be shown. Revoke it: `,
    );
    expect(stderr).toMatch(new RegExp(`petstore\\S* keys revoke ${id}\n$`));
  });

  it('but a closed pipe is not a failure', async () => {
    expect(isReaderGone(Object.assign(new Error(), { code: 'EPIPE' }))).toBe(true);
    expect(isReaderGone(Object.assign(new Error(), { code: 'ENOSPC' }))).toBe(false);
    // The shell tells the code of the command itself on standard error, not that of its reader.
    const ended = await inShell('openapi', '; echo "ended $?" >&2; } | head -1', '{');
    expect(ended).toEqual({ code: 0, stderr: 'ended 0\n' });
  });
});

describe('a file', () => {
  it('gets the whole text', () => {
    const file = join(folder, 'all.txt');
    const descriptor = openSync(file, 'w');
    const text = 'ü犬\n'.repeat(250_000);
    writeWhole(descriptor, text);
    closeSync(descriptor);
    expect(readFileSync(file, 'utf8') === text).toBe(true);
  });

  it('on a full disk is reported', () => {
    const descriptor = openSync('/dev/full', 'w');
    expect(() => writeWhole(descriptor, 'x')).toThrow(OutputFailure);
    expect(() => writeWhole(descriptor, 'x')).toThrow(NO_SPACE);
    closeSync(descriptor);
  });
});
