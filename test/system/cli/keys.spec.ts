import { complaint } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const { database, run, json } = useCommandLine('keys');

beforeAll(async () => {
  for (const name of ['acme', 'other']) {
    await database.pool.query(`INSERT INTO clients (name, plan) VALUES ($1, 'free')`, [name]);
  }
});

interface IssuedKey {
  id: number;
  key: string;
}

const issue = (...args: string[]) => json<IssuedKey>('issue', '--client', 'acme', ...args);

describe('keys issue', () => {
  it('shows the key once and keeps only its digest', async () => {
    const issued = await issue('--scopes', 'read,write');
    expect(issued).toEqual({
      id: 1,
      key: expect.stringMatching(/^psk_live_[0-9A-Za-z]{36}$/) as string,
      client: 'acme',
      endsWith: issued.key.slice(-4),
      state: 'active',
      scopes: ['read', 'write'],
      createdAt: expect.stringMatching(/Z$/) as string,
      expiresAt: null,
      lastUsedAt: null,
    });
    expect((await run('list')).stdout).not.toContain(issued.key);
    const { rows } = await database.pool.query('SELECT * FROM api_keys');
    expect(JSON.stringify(rows)).not.toContain(issued.key);
  });

  it('says that the key is not shown again', async () => {
    const { code, stdout } = await run('issue', '--client', 'acme');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +\d+\nkey +psk_live_\w{36}\nclient +acme\n/);
    expect(stdout).toMatch(/scopes +read,write\n/);
    expect(stdout).toContain('only time the key is shown');
  });

  it('accepts scopes and an expiry: the end of a day, or a time', async () => {
    expect(await issue('--scopes', 'read', '--expires', '2099-01-31')).toMatchObject({
      ...{ scopes: ['read'], expiresAt: '2099-02-01T00:00:00.000Z' },
    });
    expect(await issue('--expires', '2099-01-31T12:00:00+02:00')).toMatchObject({
      expiresAt: '2099-01-31T10:00:00.000Z',
    });
  });

  it('takes no --columns, which could hide the key: nothing is issued', async () => {
    const before = await json<IssuedKey[]>('list');
    expect(await run('issue', '--client', 'acme', '--columns', 'id')).toEqual(
      complaint(2, /unknown option '--columns'/),
    );
    expect(await json('list')).toEqual(before);
  });

  it('needs an existing client', async () => {
    expect(await run('issue', '--client', 'nobody')).toEqual(complaint(1, /no client named nobody/));
  });
});

describe('keys list', () => {
  it('lists all keys or those of one client', async () => {
    expect((await run('list', '--client', 'other')).stdout).toBe('There are no keys yet.\n');
    const { id } = await json<IssuedKey>('issue', '--client', 'other');
    expect(await json('list', '--client', 'other')).toMatchObject([{ id, client: 'other', state: 'active' }]);
    expect((await run('list')).stdout).toMatch(
      /^id +client +endsWith +state +scopes +createdAt +expiresAt +/,
    );
  });

  it('shows when a ban ends; a revoked key cannot be banned', async () => {
    const { id } = await issue();
    const { bannedUntil } = await json<{ bannedUntil: string }>('ban', String(id), '--for', '2h');
    const listed = async () => (await json<{ id: number }[]>('list')).find((key) => key.id === id);
    expect(await listed()).toMatchObject({ id, state: 'active', bannedUntil });
    await json('unban', String(id));
    expect(await listed()).toMatchObject({ id, bannedUntil: null });
    await json('revoke', String(id), '--yes');
    expect(await run('ban', String(id))).toEqual(
      complaint(1, /Key \d+ is already revoked and cannot be used, so it needs no ban/),
    );
  });

  it('reports an unknown client', async () => {
    expect(await run('list', '--client', 'nobody')).toEqual(complaint(1, /no client named nobody/));
  });
});

describe('keys revoke', () => {
  it('revokes a key, and changes nothing the second time', async () => {
    const { id } = await issue();
    const revokedAt = async () =>
      (await database.pool.query<object>('SELECT revoked_at FROM api_keys WHERE id = $1', [id])).rows[0];
    expect(await json('revoke', String(id), '--yes')).toMatchObject({ id, state: 'revoked' });
    const first = await revokedAt();
    expect(await json('revoke', String(id), '--yes')).toMatchObject({ id, state: 'revoked' });
    expect(await revokedAt()).toEqual(first);
  });

  it("names the client's enabled webhooks, which go on, and how to end them", async () => {
    await database.pool.query(
      `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
       SELECT id, 'https://' || name || '.example/hunter2', name = 'acme', '[]', now() FROM clients ORDER BY id`,
    );
    const { stderr } = await run('revoke', String((await issue()).id), '--yes');
    expect(stderr).toMatch(/webhooks disable <id>\n {2}\d+ {2}https:\/\/acme\.example\n$/);
  });

  it('reports an unknown key', async () => {
    expect(await run('revoke', '999', '--yes')).toEqual(complaint(1, /no key 999/));
  });
});
