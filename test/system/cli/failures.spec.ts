import { complaint, petstore, petstoreProcess } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const { environment, run, json } = useCommandLine();
let key: string;

beforeAll(async () => {
  await json('clients', 'create', '--name', 'acme');
  ({ key } = await json<{ key: string }>('keys', 'issue', '--client', 'acme'));
});
const audit = () => json<{ action: string; details: object }[]>('audit');

function failure(code: string, message: RegExp, exitCode: number) {
  return { code: exitCode, stdout: '', stderr: failureLine(code, message) };
}

function failureLine(code: string, message: RegExp): string {
  return expect.stringMatching(
    new RegExp(`^{"error":{"code":"${code}","message":"[^\\n]*${message.source}[^\\n]*"}}\\n$`),
  ) as string;
}

it('with --json every failure is JSON on standard error', async () => {
  expect(await run('clients', 'show', 'nobody', '--json')).toEqual(
    failure('client_not_found', /named nobody/, 1),
  );
  expect(await run('orders', 'show', '7', '--output', 'json')).toEqual(failure('order_not_found', /7/, 1));
  expect(await run('nope', '--json')).toEqual(failure('usage_error', /unknown command/, 2));
  expect(await run('clients', 'list', '--json', '--sort', 'x')).toEqual(
    failure('usage_error', /--sort takes/, 2),
  );
  const refused = { ...environment, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  expect(await petstore(['clients', 'list', '--json'], refused)).toEqual(
    failure('database_unavailable', /reached/, 1),
  );
});

it('a command that waits for something that never happens fails instead of ending successfully', async () => {
  const node = [
    '--import',
    'data:text/javascript,import fs from "node:fs/promises"; fs.open = () => new Promise(() => {});',
  ];
  expect(await petstoreProcess(['import', '/dev/null'], environment, { node })).toEqual(
    complaint(1, /ended before its work was done/),
  );
});

it('a whole key is found by its digest, and never printed', async () => {
  const shown = await run('keys', 'show', key);
  expect(shown.stdout).toMatch(/^id +1\nclient +acme\n/);
  const asked = await run('keys', 'revoke', key);
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  const misplaced = await run('pets', 'show', key);
  const unknown = await run('keys', 'revoke', key.replace(/.{6}$/, '000000'), '--yes');
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ends with 0000 is not one of this store') as string,
  });
  expect(
    [shown, asked, misplaced, unknown].map(({ stdout, stderr }) => stdout + stderr).join(),
  ).not.toContain(key);
});

it('destructive commands need --yes, and the reason is in the audit log', async () => {
  for (const command of [
    ['keys', 'revoke', '1'],
    ['quotas', 'reset', 'acme'],
    ['clients', 'delete', 'acme'],
  ]) {
    expect(await run(...command, '--json')).toEqual(failure('confirmation_required', /\\? Add --yes/, 2));
  }
  const before = await audit();
  expect(before.map(({ action }) => action)).toEqual(['key.issued', 'client.created']);
  await run('keys', 'revoke', key, '--yes', '--reason', 'found in a log');
  await run('clients', 'rename', 'acme', 'acme-eu', '--reason', 'moved');
  await run('clients', 'delete', 'acme-eu', '--yes');
  expect((await audit()).slice(0, 3)).toMatchObject([
    { action: 'client.deleted', client: 'acme-eu', details: { plan: 'free', keys: 1 } },
    { action: 'client.renamed', details: { name: { before: 'acme', after: 'acme-eu' }, reason: 'moved' } },
    { action: 'key.revoked', keyId: 1, details: { reason: 'found in a log' } },
  ]);
  expect(await json('keys', 'list')).toEqual([]);
  expect(await run('clients', 'rename', 'acme-eu', 'x')).toMatchObject({ code: 1 });
});

it('a long argument is repeated in short and escaped, whatever fails', async () => {
  const argument = `a\u001b[2J\u202e${'x'.repeat(500)}`;
  expect(await run('keys', 'revoke', argument)).toEqual(complaint(2, /not "a\\u001b\[2J[ -~]*xxx…"\./));
  expect(await run(`--${argument}`)).toEqual(complaint(2, /option '--a\\u001b\[2J[ -~]*xxx…' \(see --help/));
});
