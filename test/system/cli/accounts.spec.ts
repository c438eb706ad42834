import { operator } from '../../../src/cli/command/operator';
import { complaint, petstore, petstoreProcess } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

interface Key {
  id: number;
  key: string;
}

interface Entry {
  action: string;
  details: object;
}

const { database, environment, run, json } = useCommandLine();
const issue = (...args: string[]) => json<Key>('keys', 'issue', 'acme', ...args);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

// No test changes this client, except that it gets more keys.
beforeAll(async () => {
  // The option is what older scripts give.
  const created = await json('clients', 'create', '--name', 'acme', '--plan', 'free');
  const fields = { name: 'acme', plan: 'free', perMinute: 60, perDay: 1000 };
  expect(created).toEqual({ id: 1, ...fields, createdAt: INSTANT });
});

describe('clients', () => {
  it('are created on the plan free by default, under a name that is not taken', async () => {
    const { code, stdout, stderr } = await run('clients', 'create', 'plain');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const fields = /^id +\d+\nname +plain\nplan +free\nperMinute +60\nperDay +1000\ncreatedAt +\S+Z\n$/;
    expect(stdout).toMatch(fields);
    expect(await run('clients', 'create', 'acme')).toEqual(complaint(1, /client named acme already/));
  });

  it('are listed by id, as a table and as JSON', async () => {
    await json('clients', 'create', 'zebra');
    await json('clients', 'create', 'ant');
    const [head, first] = (await run('clients', 'list')).stdout.split('\n');
    expect(head).toMatch(/^id +name +plan +perMinute +perDay +createdAt$/);
    expect(first).toMatch(/^ +1 +acme +free +60 +1000 +\S+Z$/);
    const names = (await json<{ name: string }[]>('clients', 'list')).map(({ name }) => name);
    expect(names[0]).toBe('acme');
    expect(names.slice(names.indexOf('zebra'))).toEqual(['zebra', 'ant']);
  });

  it('are shown with their keys, by their last four characters', async () => {
    await json('clients', 'create', 'shown');
    const { stdout } = await run('clients', 'show', 'shown');
    expect(stdout).toMatch(/name +shown\n(.+\n)+\nNo keys yet: .*petstore\S* keys issue/);
    const { key } = await json<Key>('keys', 'issue', 'shown');
    const shown = await json('clients', 'show', 'shown');
    expect(shown).toMatchObject({ name: 'shown', keys: [{ endsWith: key.slice(-4), state: 'active' }] });
    expect(JSON.stringify(shown)).not.toContain(key);
  });

  it('change their plan, which may have agreed limits', async () => {
    await json('clients', 'create', 'growing');
    const setPlan = (...args: string[]) => json('clients', 'set-plan', 'growing', '--plan', ...args);
    expect(await setPlan('pro')).toMatchObject({ plan: 'pro', perMinute: 300 });
    const agreed = ['enterprise', '--per-minute', '7', '--per-day', '70'];
    expect(await setPlan(...agreed)).toMatchObject({ plan: 'enterprise', perMinute: 7, perDay: 70 });
    expect(await setPlan('free')).toMatchObject({ perMinute: 60, perDay: 1000 });
  });

  it('are deleted after a question with the number of keys that still work, and of webhooks', async () => {
    await json('clients', 'create', 'leaver');
    const question = async () => (await run('clients', 'delete', 'leaver')).stderr;
    await database.pool.query(
      `INSERT INTO api_keys (client_id, digest, last4, scopes, expires_at, revoked_at)
       SELECT id, 'digest ' || kind, 'ab12', '{read}', CASE kind WHEN 'expired' THEN now() END, CASE kind WHEN 'revoked' THEN now() END
       FROM clients, unnest(ARRAY['active', 'expired', 'revoked']) AS kind WHERE name = 'leaver'`,
    );
    expect(await question()).toContain('Delete leaver, which cuts off 1 key? Add --yes');
    await database.pool.query(
      `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
       SELECT id, 'https://leaver.example', true, '[]', now() FROM clients WHERE name = 'leaver'`,
    );
    expect(await question()).toContain('which cuts off 1 key and ends 1 webhook?');
  });
});

describe('keys', () => {
  it('are shown once, and only their digest is kept', async () => {
    const issued = await issue('--scopes', 'read,write', '--name', 'price list');
    expect(issued).toEqual({
      id: expect.any(Number) as number,
      key: expect.stringMatching(/^psk_live_[0-9A-Za-z]{36}$/) as string,
      client: 'acme',
      name: 'price list',
      endsWith: issued.key.slice(-4),
      state: 'active',
      scopes: ['read', 'write'],
      createdAt: INSTANT,
      expiresAt: null,
      lastUsedAt: null,
    });
    expect((await run('keys', 'list')).stdout).not.toContain(issued.key);
    const { rows } = await database.pool.query('SELECT * FROM api_keys');
    expect(JSON.stringify(rows)).not.toContain(issued.key);
    const { stdout } = await run('keys', 'issue', 'acme');
    expect(stdout).toMatch(/^id +\d+\nkey +psk_live_\w{36}\nclient +acme\nname +-\n[^]*scopes +read,write\n/);
    expect(stdout).toContain('only time the key is shown');
  });

  it('have scopes and an expiry: the end of a day, or a time', async () => {
    const read = await issue('--scopes', 'read', '--expires', '2099-01-31');
    expect(read).toMatchObject({ scopes: ['read'], expiresAt: '2099-02-01T00:00:00.000Z' });
    const timed = await issue('--expires', '2099-01-31T12:00:00+02:00');
    expect(timed).toMatchObject({ expiresAt: '2099-01-31T10:00:00.000Z' });
  });

  it('are not issued with --columns, which could hide the key', async () => {
    const before = await json<Key[]>('keys', 'list');
    const refused = await run('keys', 'issue', 'acme', '--columns', 'id');
    expect(refused).toEqual(complaint(2, /unknown option '--columns'/));
    expect(await json('keys', 'list')).toEqual(before);
  });

  it('are listed, all or those of one client', async () => {
    await json('clients', 'create', 'listed');
    expect((await run('keys', 'list', '--client', 'listed')).stdout).toBe('There are no keys yet.\n');
    const { id } = await json<Key>('keys', 'issue', 'listed');
    const listed = await json('keys', 'list', '--client', 'listed');
    expect(listed).toMatchObject([{ id, client: 'listed', state: 'active' }]);
    const head = /^id +client +name +endsWith +state +scopes +createdAt +expiresAt +/;
    expect((await run('keys', 'list')).stdout).toMatch(head);
  });

  it('are shown with the end of their ban, and a revoked one cannot be banned', async () => {
    const id = String((await issue()).id);
    const { bannedUntil } = await json<{ bannedUntil: string }>('keys', 'ban', id, '--for', '2h');
    const listed = async () => (await json<Key[]>('keys', 'list')).find((key) => String(key.id) === id);
    expect(await listed()).toMatchObject({ state: 'active', bannedUntil });
    await json('keys', 'unban', id);
    expect(await listed()).toMatchObject({ bannedUntil: null });
    await json('keys', 'revoke', id, '--yes');
    const needless = /Key \d+ is already revoked and cannot be used, so it needs no ban/;
    expect(await run('keys', 'ban', id)).toEqual(complaint(1, needless));
  });

  it('are revoked once, and the second time nothing changes', async () => {
    const { id } = await issue();
    const revoke = () => json('keys', 'revoke', String(id), '--yes');
    const revokedAt = async () =>
      (await database.pool.query<object>('SELECT revoked_at FROM api_keys WHERE id = $1', [id])).rows[0];
    expect(await revoke()).toMatchObject({ id, state: 'revoked' });
    const first = await revokedAt();
    expect(await revoke()).toMatchObject({ id, state: 'revoked' });
    expect(await revokedAt()).toEqual(first);
  });

  it("are revoked with a note on the client's enabled webhooks, which go on", async () => {
    await json('clients', 'create', 'hooked');
    await json('clients', 'create', 'neighbour');
    await database.pool.query(
      `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
       SELECT id, 'https://' || name || '.example/hunter2', name = 'hooked', '[]', now()
       FROM clients WHERE name IN ('hooked', 'neighbour')`,
    );
    const { id } = await json<Key>('keys', 'issue', 'hooked');
    const { stderr } = await run('keys', 'revoke', String(id), '--yes');
    expect(stderr).toMatch(/webhooks disable <id>\n {2}\d+ {2}https:\/\/hooked\.example\n$/);
  });

  it('are found by the whole key, which is never printed', async () => {
    const { id, key } = await issue();
    const shown = await run('keys', 'show', key);
    expect(shown.stdout).toMatch(new RegExp(`^id +${id}\nclient +acme\n`));
    const asked = await run('keys', 'revoke', key);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    const misplaced = await run('pets', 'show', key);
    const unknown = await run('keys', 'revoke', key.replace(/.{6}$/, '000000'), '--yes');
    expect(unknown).toEqual(complaint(1, /ends with 0000 is not one of this store/));
    const printed = [shown, asked, misplaced, unknown].map(({ stdout, stderr }) => stdout + stderr);
    expect(printed.join()).not.toContain(key);
  });
});

describe('the audit log', () => {
  it('shows who did what on the command line, to programs and to people', async () => {
    await petstore(['clients', 'create', 'audited'], { ...environment, SUDO_USER: 'ann' });
    await database.pool.query(
      `INSERT INTO audit_entries (at, actor_kind, actor, action, key_id, details)
       VALUES (now() - interval '2 days', 'key', '7', 'key.banned', 707, '{"level": 2}')`,
    );
    const name = `${operator({}).name} (sudo by ann)`;
    const filter = ['--client', 'audited', '--action', 'client.', '--since', '1d', '--limit', '1'];
    expect(await json('audit', ...filter)).toEqual([
      {
        id: expect.any(Number) as number,
        at: INSTANT,
        actor: { kind: 'cli', name },
        action: 'client.created',
        clientId: expect.any(Number) as number,
        client: 'audited',
        keyId: null,
        details: { plan: 'free', perMinute: null, perDay: null },
      },
    ]);
    expect(await json('audit', '--key', '707', '--since', '1d')).toEqual([]);
    expect(await json('audit', '--key', '707')).toMatchObject([{ action: 'key.banned', client: null }]);
    const [header, first, ...others] = (await run('audit')).stdout.trimEnd().split('\n');
    expect(header).toMatch(/^at +actor +action +client +keyId +details$/);
    expect(first).toMatch(/^\S+Z +\S+@.* \(sudo by ann\) +client\.created +audited +- +plan free$/);
    expect(others.at(-1)).toMatch(/^\S+Z +key 7 +key\.banned +- +707 +level 2$/);
  });

  it('has the reason of a destructive command, which needs --yes in a script', async () => {
    await json('clients', 'create', 'ended');
    const { id } = await json<Key>('keys', 'issue', 'ended');
    const before = await json<Entry[]>('audit');
    for (const command of [`keys revoke ${id}`, 'quotas reset ended', 'clients delete ended']) {
      const refused = failure('confirmation_required', /\\? Add --yes/, 2);
      expect(await run(...command.split(' '), '--json')).toEqual(refused);
    }
    expect(await json('audit')).toEqual(before);
    await run('keys', 'revoke', String(id), '--yes', '--reason', 'found in a log');
    await run('clients', 'rename', 'ended', 'ended-eu', '--reason', 'moved');
    await run('clients', 'delete', 'ended-eu', '--yes');
    expect((await json<Entry[]>('audit')).slice(0, 3)).toMatchObject([
      { action: 'client.deleted', client: 'ended-eu', details: { plan: 'free', keys: 1 } },
      {
        action: 'client.renamed',
        details: { name: { before: 'ended', after: 'ended-eu' }, reason: 'moved' },
      },
      { action: 'key.revoked', keyId: id, details: { reason: 'found in a log' } },
    ]);
  });
});

function failure(code: string, { source }: RegExp, exitCode: number) {
  const line = `^{"error":{"code":"${code}","message":"[^\\n]*${source}[^\\n]*"}}\\n$`;
  return { code: exitCode, stdout: '', stderr: expect.stringMatching(new RegExp(line)) as string };
}

describe('a failure', () => {
  it.each([
    ['clients show nobody', /no client named nobody/],
    ['clients set-plan nobody --plan pro', /no client named nobody/],
    ['clients rename nobody x', /no client named nobody/],
    ['keys issue nobody', /no client named nobody/],
    ['keys list --client nobody', /no client named nobody/],
    ['keys revoke 999 --yes', /no key 999/],
    ['audit --client nobody', /no client named nobody/],
  ])('is reported in one line: petstore %s', async (command, line) => {
    expect(await run(...command.split(' '))).toEqual(complaint(1, line));
  });

  it('is JSON on standard error with --json', async () => {
    const refused = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    for (const [command, expected, where] of [
      ['clients show nobody --json', failure('client_not_found', /named nobody/, 1), environment],
      ['orders show 7 --output json', failure('order_not_found', /7/, 1), environment],
      ['nope --json', failure('usage_error', /unknown command/, 2), environment],
      ['clients list --json --sort x', failure('usage_error', /--sort takes/, 2), environment],
      ['clients list --json', failure('database_unavailable', /reached/, 1), refused],
    ] as const) {
      expect(await petstore(command.split(' '), where)).toEqual(expected);
    }
  });

  it('repeats a long argument in short and escaped', async () => {
    const argument = `a\u001b[2J\u202e${'x'.repeat(500)}`;
    const value = complaint(2, /not "a\\u001b\[2J[ -~]*xxx…"\./);
    expect(await run('keys', 'revoke', argument)).toEqual(value);
    const option = complaint(2, /option '--a\\u001b\[2J[ -~]*xxx…' \(see --help/);
    expect(await run(`--${argument}`)).toEqual(option);
  });

  it('is what a command ends with that waits for something that never happens', async () => {
    const hook = 'import fs from "node:fs/promises"; fs.open = () => new Promise(() => {});';
    const node = ['--import', `data:text/javascript,${hook}`];
    const outcome = await petstoreProcess(['import', '/dev/null'], environment, { node });
    expect(outcome).toEqual(complaint(1, /ended before its work was done/));
  });
});
