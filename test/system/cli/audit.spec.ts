import { operator } from '../../../src/cli/command/operator';
import { detailsInShort } from '../../../src/cli/audit.command';
import { complaint, petstore } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const { database, environment, run, json } = useCommandLine();

it('shows who did what on the command line, to programs and to people', async () => {
  await petstore(['clients', 'create', '--name', 'acme'], { ...environment, SUDO_USER: 'ann' });
  await database.pool.query(
    `INSERT INTO audit_entries (at, actor_kind, actor, action, key_id, details)
     VALUES (now() - interval '2 days', 'key', '7', 'key.banned', 7, '{"level": 2}')`,
  );
  const name = `${operator({}).name} (sudo by ann)`;
  const created = {
    id: 1,
    at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    actor: { kind: 'cli', name },
    action: 'client.created',
    clientId: 1,
    client: 'acme',
    keyId: null,
    details: { plan: 'free', perMinute: null, perDay: null },
  };
  expect(await json('audit', '--since', '1d')).toEqual([created]);
  expect(await json('audit', '--client', 'acme', '--action', 'client.', '--limit', '1')).toEqual([created]);
  expect(await json('audit', '--key', '7')).toMatchObject([{ action: 'key.banned', client: null, keyId: 7 }]);
  const [header, first, second] = (await run('audit')).stdout.split('\n');
  expect(header).toMatch(/^at +actor +action +client +keyId +details$/);
  expect(first).toMatch(/^\S+Z +\S+@.* \(sudo by ann\) +client\.created +acme +- +plan free$/);
  expect(second).toMatch(/^\S+Z +key 7 +key\.banned +- +7 +level 2$/);
});

it('reports an unknown client and an invalid time', async () => {
  expect(await run('audit', '--client', 'nobody')).toEqual(complaint(1, /no client named nobody/));
  expect(await run('audit', '--since', 'yesterday')).toEqual(complaint(2, /--since takes a day/));
});

it.each([
  [{}, null],
  [{ plan: 'free', perMinute: null }, 'plan free'],
  [{ plan: { before: 'free', after: 'pro' }, perDay: { before: null, after: null } }, 'plan free → pro'],
  [{ expiresAt: { before: null, after: '2030-01-01' } }, 'expiresAt - → 2030-01-01'],
  [{ scopes: ['read', 'write'], overlapSeconds: 0 }, 'scopes read+write, overlapSeconds 0'],
])('shortens details: %j', (details, text) => {
  expect(detailsInShort(details)).toBe(text);
});
