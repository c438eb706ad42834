import { complaint, petstoreJson } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const { database, environment, run, json } = useCommandLine('clients');

beforeAll(async () => {
  const fields = { name: 'acme', plan: 'free', perMinute: 60, perDay: 1000 };
  expect(await petstoreJson(['clients', 'create', '--name', 'acme', '--plan', 'free'], environment)).toEqual({
    id: 1,
    ...fields,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  });
});

describe('clients create', () => {
  it('uses the plan free by default, and reports what it did', async () => {
    const { code, stdout, stderr } = await run('create', '--name', 'plain');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^id +\d+\nname +plain\nplan +free\nperMinute +60\nperDay +1000\ncreatedAt +\S+Z\n$/,
    );
  });

  it('needs both limits for the plan enterprise', async () => {
    const limits = ['--plan', 'enterprise', '--per-minute', '5000', '--per-day', '1000000'];
    expect(await json('create', '--name', 'large', ...limits)).toMatchObject({
      ...{ plan: 'enterprise', perMinute: 5000, perDay: 1_000_000 },
    });
  });

  it('rejects a name that is taken', async () => {
    expect(await run('create', '--name', 'acme')).toEqual(complaint(1, /client named acme already/));
  });
});

describe('clients list and show', () => {
  it('list the clients as a table and as JSON', async () => {
    const { stdout } = await run('list');
    const [head, first] = stdout.split('\n');
    expect(head).toMatch(/^id +name +plan +perMinute +perDay +createdAt$/);
    expect(first).toMatch(/^ +1 +acme +free +60 +1000 +\S+Z$/);
    const clients = await json<{ id: number; name: string }[]>('list');
    expect(clients[0]).toMatchObject({ id: 1, name: 'acme' });
    expect(clients.map(({ id }) => id)).toEqual(clients.map(({ id }) => id).sort((a, b) => a - b));
  });

  it('show one with its keys, by their last four characters', async () => {
    expect((await run('show', 'acme')).stdout).toMatch(
      /name +acme\n(.+\n)+\nNo keys yet: .*petstore\S* keys issue/,
    );
    const { key } = await petstoreJson<{ key: string }>(['keys', 'issue', '--client', 'acme'], environment);
    const shown = await json<{ keys: object[] }>('show', 'acme');
    expect(shown).toMatchObject({ name: 'acme', keys: [{ endsWith: key.slice(-4), state: 'active' }] });
    expect(JSON.stringify(shown)).not.toContain(key);
  });

  it('report an unknown client', async () => {
    expect(await run('show', 'nobody')).toEqual(complaint(1, /no client named nobody/));
  });
});

describe('clients delete', () => {
  it('asks with the number of keys that still work, and of webhooks', async () => {
    await json('create', '--name', 'leaver');
    const question = async () => (await run('delete', 'leaver')).stderr;
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

describe('clients set-plan', () => {
  it('changes the plan and its limits', async () => {
    await json('create', '--name', 'mover');
    expect(await json('set-plan', 'mover', '--plan', 'pro')).toMatchObject({ plan: 'pro', perMinute: 300 });
    const limits = ['--per-minute', '7', '--per-day', '70'];
    expect(await json('set-plan', 'mover', '--plan', 'enterprise', ...limits)).toMatchObject({ perDay: 70 });
    expect(await json('set-plan', 'mover', '--plan', 'free')).toMatchObject({ perMinute: 60, perDay: 1000 });
  });

  it('reports an unknown client', async () => {
    expect(await run('set-plan', 'nobody', '--plan', 'pro')).toEqual(complaint(1, /no client named nobody/));
  });
});
