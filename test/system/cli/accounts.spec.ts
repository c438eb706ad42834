import { exec } from 'node:child_process';
import { tmpdir } from 'node:os';
import { cleanEnvironment, complaint, petstoreScript } from '../../support/command-line';
import { runCommand, useCommandLine } from './support/use-command-line';

interface Key {
  id: number;
  key: string;
}

const { database, environment, run, json } = useCommandLine();
const issue = (...args: string[]) => json<Key>('keys', 'issue', '--client', 'acme', ...args);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

/** The ISO date this many days after today, in UTC. The commands compare it with the machine's clock. */
const dayAhead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

// No test changes this client, except that it gets more keys.
beforeAll(async () => {
  const created = await json('clients', 'create', '--name', 'acme', '--plan', 'free');
  const fields = { name: 'acme', plan: 'free', perMinute: 60, perDay: 1000 };
  expect(created).toEqual({ id: 1, ...fields, createdAt: INSTANT });
});

/** Adds clients of the plan free to the database, without a command. */
async function someClients(...names: string[]): Promise<void> {
  await database.pool.query(`INSERT INTO clients (name, plan) SELECT unnest($1::text[]), 'free'`, [names]);
}

/** Adds an enabled webhook of the client with this name. @returns its id */
async function aWebhook(client: string, url = 'https://shop.example/'): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
     SELECT id, $2, true, '[]', now() FROM clients WHERE name = $1 AND deleted_at IS NULL RETURNING id`,
    [client, url],
  );
  return String(rows[0]!.id);
}

describe('clients', () => {
  it('are created on the plan free by default, under a name that is not taken', async () => {
    const { code, stdout, stderr } = await run('clients', 'create', 'plain');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const fields =
      /^id +\d+\nname +plain\nplan +free\nper minute +60\nper day +1000\ncreated +\S+Z \(\d+s ago\)\n$/;
    expect(stdout).toMatch(fields);
    const mistyped = complaint(1, /no client named plane\. Did you mean plain\?/);
    expect(await run('keys', 'issue', 'plane')).toEqual(mistyped);
    const taken = complaint(1, /client named acme already/);
    expect(await run('clients', 'create', '--name', 'acme')).toEqual(taken);
  });

  it('are listed by id', async () => {
    await someClients('zebra', 'ant');
    const { stdout } = await run('clients', 'list');
    expect(stdout).toMatch(
      /^id +name +plan +per minute +per day +created\n +1 +acme +free +60 +1000 +\d+\w+ ago\n/,
    );
    expect(stdout).toMatch(/ zebra [^]* ant /);
  });

  it('are shown with their keys, by their last four characters', async () => {
    await someClients('shown');
    const { stdout } = await run('clients', 'show', 'shown');
    expect(stdout).toMatch(/name +shown\n(.+\n)+\nNo keys yet: .* keys issue/);
    const { key } = await json<Key>('keys', 'issue', '--client', 'shown');
    const shown = await json('clients', 'show', 'shown');
    expect(shown).toMatchObject({ name: 'shown', keys: [{ endsWith: key.slice(-4), state: 'active' }] });
    expect(JSON.stringify(shown)).not.toContain(key);
  });

  it('change their plan, which may have agreed limits', async () => {
    await someClients('growing');
    const setPlan = (...args: string[]) => json('clients', 'set-plan', 'growing', '--plan', ...args);
    expect(await setPlan('pro')).toMatchObject({ plan: 'pro', perMinute: 300 });
    const agreed = ['enterprise', '--per-minute', '7', '--per-day', '70'];
    expect(await setPlan(...agreed)).toMatchObject({ plan: 'enterprise', perMinute: 7, perDay: 70 });
    expect(await setPlan('free')).toMatchObject({ perMinute: 60, perDay: 1000 });
  });
});

it('a client is named by its name or id, as an argument or as --client; a name comes before an id', async () => {
  const { id } = await json<{ id: number }>('clients', 'create', 'named');
  const key = await json<Key>('keys', 'issue', String(id));
  for (const command of 'clients show|quotas show|keys list|webhooks list|deprecations|audit'.split('|')) {
    const words = command.split(' ');
    const byName = await json(...words, 'named');
    expect(await json(...words, '--client', String(id))).toEqual(byName);
  }
  expect(await json('keys', 'list', 'named')).toMatchObject([{ id: key.id, client: 'named' }]);
  expect(await json('audit', 'named')).toMatchObject([
    { action: 'key.issued' },
    { action: 'client.created' },
  ]);
  await someClients(String(id));
  expect(await json('clients', 'show', String(id))).toMatchObject({ name: String(id), keys: [] });
});

it('clients are renamed, and keep their keys', async () => {
  await json('clients', 'create', '--name', 'former');
  const { id } = await json<Key>('keys', 'issue', '--client', 'former');
  expect(await run('clients', 'rename', 'former', 'acme')).toEqual(complaint(1, /client named acme already/));
  expect(await json('clients', 'rename', 'former', 'latter')).toMatchObject({ name: 'latter', plan: 'free' });
  expect(await run('clients', 'show', 'former')).toEqual(complaint(1, /no client named former/));
  expect(await json('clients', 'show', 'latter')).toMatchObject({ keys: [{ id }] });
  expect(await json('audit', '--client', 'former')).toMatchObject([
    { action: 'client.renamed', client: 'latter' },
    { action: 'key.issued', client: 'former', keyId: id },
    { action: 'client.created', client: 'former' },
  ]);
});

it('clients are deleted with their keys: their name is free, and their history stays', async () => {
  const { id: client } = await json<{ id: number }>('clients', 'create', '--name', 'doomed');
  const { id, key } = await json<Key>('keys', 'issue', '--client', 'doomed');
  await database.pool.query(`INSERT INTO usage_days SELECT $1, (now() AT TIME ZONE 'UTC')::date, 9000`, [
    client,
  ]);

  expect(await json('clients', 'delete', 'doomed', '--yes')).toEqual({
    id: client,
    name: 'doomed',
    deleted: true,
  });
  expect(await json('quotas', 'top')).not.toContainEqual(expect.objectContaining({ client: 'doomed' }));
  expect(await run('clients', 'show', 'doomed')).toEqual(complaint(1, /no client named doomed/));
  // The key is still found, because an operator may have to look up a leaked key.
  expect(await json('keys', 'show', key)).toMatchObject({ id, client: 'doomed', state: 'revoked' });

  await json('clients', 'create', '--name', 'doomed');
  const none = /no keys yet\. [^\n]+ keys issue doomed\n$/;
  expect((await run('keys', 'list', '--client', 'doomed')).stdout).toMatch(none);
  await aWebhook('doomed');
  expect(await json('keys', 'revoke', key)).toMatchObject({ state: 'revoked' });
  const actions = (await json<{ action: string }[]>('audit', '--client', 'doomed')).map(
    ({ action }) => action,
  );
  expect(actions).toEqual(['client.created', 'client.deleted', 'key.issued', 'client.created']);
});

describe('keys', () => {
  it('change their name, scopes and expiry', async () => {
    const { id } = await issue('--expires', dayAhead(10));
    const update = (...args: string[]) => ['keys', 'update', String(id), ...args];
    const changed = await json(...update('--name', 'tills', '--scopes', 'read', '--expires', dayAhead(20)));
    const now = { id, name: 'tills', scopes: ['read'], expiresAt: `${dayAhead(21)}T00:00:00.000Z` };
    expect(changed).toMatchObject(now);
    expect(await json(...update('--no-expires'))).toMatchObject({ name: 'tills', expiresAt: null });
    await json('keys', 'rotate', String(id));
    expect(await run(...update('--expires', dayAhead(20)))).toEqual(
      complaint(1, /expires when the overlap of the rotation ends/),
    );
    expect(await json(...update('--name', 'old tills'))).toMatchObject({ name: 'old tills' });
    await json('keys', 'revoke', String(id), '--yes');
    expect(await run(...update('--name', 'x'))).toEqual(complaint(1, /is revoked. Issue a new one/));
  });

  it('are shown once', async () => {
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
    const options = ['--scopes', 'read', '--expires', dayAhead(20)];
    const { stdout } = await run('keys', 'issue', '--client', 'acme', ...options);
    expect(stdout).toMatch(/^id +\d+\nkey +psk_live_\w{36}\nclient +acme\nname +-\n[^]*scopes +read\n/);
    expect(stdout).toMatch(new RegExp(`\nexpires +${dayAhead(21)}T00:00:00.000Z \\(in \\d+d\\)\n`));
    expect(stdout).toContain('only time the key is shown');
  });

  it('are shown with the end of their ban; a revoked one may be revoked again and cannot be banned', async () => {
    const id = String((await issue('--expires', dayAhead(20))).id);
    const { bannedUntil } = await json<{ bannedUntil: string }>('keys', 'ban', id, '--for', '2h', '--yes');
    const shown = () => json<Key>('keys', 'show', id);
    expect(await shown()).toMatchObject({ state: 'banned', bannedUntil });
    const unbanned = async () => (await run('keys', 'unban', id)).stdout;
    const lifted =
      /^The ban of key \d+ \(…\w{4}\) of acme has been lifted\. Requests left: 60 this minute, 1000 today/;
    expect(await unbanned()).toMatch(lifted);
    expect(await unbanned()).toMatch(/^Key \d+ \(…\w{4}\) of acme was not banned\. Requests left: 60 /);
    expect(await shown()).toMatchObject({ state: 'active', bannedUntil: null });
    for (let time = 0; time < 2; time += 1) {
      expect(await json('keys', 'revoke', id, '--yes')).toMatchObject({ state: 'revoked', expiresAt: null });
    }
    expect(await unbanned()).toMatch(/was not banned\. The key is revoked, so its requests get 401\.\n$/);
    const needless = /Key \d+ is already revoked and cannot be used, so it needs no ban/;
    expect(await run('keys', 'ban', id)).toEqual(complaint(1, needless));
  });

  it('are unbanned with a note that the limits of their client are still used up', async () => {
    await someClients('spent');
    const { id } = await json<Key>('keys', 'issue', 'spent');
    await database.pool.query(
      `INSERT INTO usage_days SELECT id, (now() AT TIME ZONE 'UTC')::date + days, 1000
       FROM clients, generate_series(0, 1) AS days WHERE name = 'spent'`,
    );
    await json('keys', 'ban', String(id), '--yes');
    const { stdout } = await run('keys', 'unban', String(id));
    expect(stdout).toMatch(
      / used up, so requests get 429 until \S+T00:00:00\.000Z\. [^\n]+ quotas reset spent\n$/,
    );
  });

  it('that were rotated name the new key and the end of the overlap, and the new key names the old one', async () => {
    await someClients('rotating');
    const { id: old } = await json<Key>('keys', 'issue', 'rotating');
    const rotated = await json<Key>('keys', 'rotate', String(old), '--overlap', '1h');
    expect(rotated).toMatchObject({ replaces: old, oldKeyExpiresAt: INSTANT });
    const shown = await json('keys', 'show', String(old));
    expect(shown).toMatchObject({ rotatedTo: rotated.id, overlapEndsAt: INSTANT, replaces: null });
    expect(await json('keys', 'show', String(rotated.id))).toMatchObject({ rotatedTo: null, replaces: old });
    const [head, first] = (await runCommand(['keys', 'list', 'rotating'], environment, 50)).stdout.split(
      '\n',
    );
    expect(`${head}\n${first}`).toMatch(new RegExp(` rotated to.*\n.* ${rotated.id}$`));
  });

  it("are revoked with a note on the client's enabled webhooks, which go on", async () => {
    await someClients('hooked', 'neighbour');
    // A thief of the key may have put control characters of a terminal into a URL, to hide the webhook from the operator.
    await aWebhook('hooked', 'https://hooked.example/hunter2\u001b[2K');
    await aWebhook('neighbour');
    const { id } = await json<Key>('keys', 'issue', '--client', 'hooked');
    const { stderr } = await run('keys', 'revoke', String(id), '--yes');
    expect(stderr).toMatch(
      /webhooks disable <id>\n {2}\d+ {2}https:\/\/hooked\.example\/hunter2\\u001b\[2K\n$/,
    );
  });

  it('are found by the whole key, which is never printed', async () => {
    const { id, key } = await issue();
    const shown = await run('keys', 'show', key);
    expect(shown.stdout).toMatch(new RegExp(`^id +${id}\nclient +acme\n`));
    const asked = await run('keys', 'revoke', key);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    const misplaced = await Promise.all([run('quotas', 'show', key), run('audit', key)]);
    const unknown = await run('keys', 'revoke', key.replace(/.{6}$/, '000000'), '--yes');
    expect(unknown).toEqual(complaint(1, /ends with 0000 is not one of this store/));
    const printed = [shown, asked, ...misplaced, unknown].map(({ stdout, stderr }) => stdout + stderr);
    expect(printed.join()).not.toContain(key);
  });
});

it('webhooks are shown without the secrets in their URL, disabled and enabled with a reason, and retry their failed deliveries', async () => {
  await someClients('receiver');
  const id = await aWebhook('receiver', 'https://shop.example/path?token=hunter2');
  await database.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
     SELECT $1, 'evt_' || number, 'pet.created', CASE WHEN number > 3 THEN 'failed' ELSE 'delivered' END, 10, now(), now()
     FROM generate_series(1, 5) AS number`,
    [id],
  );
  const webhooks = <Printed>(...args: string[]) => json<Printed>('webhooks', ...args);
  const shown = {
    id: Number(id),
    client: 'receiver',
    url: 'https://shop.example/path?token=…',
    failed: 2,
    pending: 0,
  };
  expect(await webhooks('list', '--client', 'receiver')).toEqual([await webhooks('show', id)]);
  expect(await webhooks('show', id)).toMatchObject(shown);
  expect((await run('webhooks', 'list', '--client', 'receiver')).stdout).not.toContain('hunter2');
  expect((await run('webhooks', 'show', id)).stdout).toMatch(/\ntypes +all\n/);

  const reason = 'It floods our proxy.';
  expect(await webhooks('disable', id, '--reason', reason)).toMatchObject({ state: 'disabled', reason });
  expect(await webhooks('enable', id)).toMatchObject({ state: 'enabled', reason: null });
  const { rows } = await database.pool.query(
    `SELECT action, details FROM audit_entries WHERE action LIKE 'webhook.%' ORDER BY id`,
  );
  expect(rows).toEqual([
    { action: 'webhook.disabled', details: { webhookId: Number(id), reason } },
    { action: 'webhook.enabled', details: { webhookId: Number(id) } },
  ]);

  expect(await webhooks('retry', id)).toEqual({ id: Number(id), retried: 2 });
  expect(await webhooks('show', id)).toMatchObject({ failed: 0, pending: 2 });
  expect((await run('webhooks', 'retry', id)).stdout).toBe('0 deliveries are due now.\n');
  await webhooks('disable', id);
  const disabled = /^0 deliveries are due, but the webhook is disabled\. .* webhooks enable \d+\n$/;
  expect((await run('webhooks', 'retry', id)).stdout).toMatch(disabled);
});

it('what destroys or cuts off needs --yes in a script, and is in the audit log with who did it', async () => {
  await someClients('ended');
  const { id } = await json<Key>('keys', 'issue', '--client', 'ended');
  for (const command of [
    `keys revoke ${id}`,
    `keys ban ${id}`,
    'quotas reset ended',
    'clients delete ended',
  ]) {
    const refused = failure('confirmation_required', /\\? Add --yes/, 2);
    expect(await run(...command.split(' '), '--json')).toEqual(refused);
  }
  await runCommand(['keys', 'revoke', String(id), '--yes'], { ...environment, SUDO_USER: 'ann' });
  const { rows } = await database.pool.query(
    `SELECT action, actor FROM audit_entries WHERE client_name = 'ended' ORDER BY id`,
  );
  expect(rows).toEqual([
    { action: 'key.issued', actor: expect.not.stringContaining('sudo') as string },
    { action: 'key.revoked', actor: expect.stringMatching(/^\S+@.* \(sudo by ann\)$/) as string },
  ]);
});

function failure(code: string, { source }: RegExp, exitCode: number) {
  const line = `^{"error":{"code":"${code}","message":"[^\\n]*${source}[^\\n]*"}}\\n$`;
  return { code: exitCode, stdout: '', stderr: expect.stringMatching(new RegExp(line)) as string };
}

it('a failure is JSON on standard error with --json', async () => {
  const refused = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  for (const [command, expected, where] of [
    ['keys list --client nobody --json', failure('client_not_found', /named nobody/, 1), environment],
    ['keys revoke 999 --yes --json', failure('key_not_found', /no key 999/, 1), environment],
    ['webhooks show 7 --json', failure('webhook_not_found', /7/, 1), environment],
    ['nope --json', failure('usage_error', /unknown command/, 2), environment],
    ['quotas top --json --days 0', failure('usage_error', /--days/, 2), environment],
    ['clients list --json', failure('database_unavailable', /reached/, 1), refused],
  ] as const) {
    expect(await runCommand(command.split(' '), where)).toEqual(expected);
  }
});

/** Runs a command in a shell, with the redirections and pipes of the line. */
function inShell(line: string) {
  const program = `"${process.execPath}" "${petstoreScript()}"`;
  const options = {
    env: cleanEnvironment(environment),
    cwd: tmpdir(),
    shell: '/bin/bash',
    timeout: 250_000,
  };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    exec(line.replace('petstore', program), options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

it('a key that could not be shown is named in one line, so that it can be revoked', async () => {
  const { code, stderr } = await inShell('petstore keys issue --client acme > /dev/full');
  const { rows } = await database.pool.query<{ id: string }>('SELECT max(id) AS id FROM api_keys');
  const id = rows[0]!.id;
  expect(code).toBe(1);
  expect(stderr).toContain(
    `petstore: cannot write to standard output: no space left on device. Key ${id} was issued but could not be shown. Revoke it: `,
  );
  expect(stderr).toMatch(new RegExp(`petstore\\S* keys revoke ${id}\n$`));
});

it('an argument that is not UTF-8 is refused', async () => {
  const stderr = 'petstore: an argument is not UTF-8.\n';
  const outcome = await inShell(`petstore keys issue --client acme --name $'Zo\\xeb'`);
  expect(outcome).toEqual({ code: 2, stdout: '', stderr });
});
