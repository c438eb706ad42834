import { runCommand, useCommandLine } from './support/use-command-line';

const NAME = 'a-client-with-a-name-that-is-quite-long';
const { database, environment } = useCommandLine();

beforeAll(async () => {
  await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('${NAME}', 'free')`);
  await database.pool.query(
    `INSERT INTO api_keys (client_id, digest, last4, scopes) VALUES (1, 'digest', 'ab12', '{read}')`,
  );
  await database.pool.query(
    `INSERT INTO deprecated_calls SELECT 1, operation, (now() AT TIME ZONE 'UTC')::date, 5, '2026-11-20T10:00:00Z'
     FROM unnest(ARRAY['getPet', 'gone']) AS operation`,
  );
  await database.pool.query(`INSERT INTO usage_days SELECT 1, (now() AT TIME ZONE 'UTC')::date, 250`);
  await database.pool.query(
    `INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, details)
     VALUES (now(), 'cli', 'ann', 'client.deleted', 99, 'gone', '{}'), (now(), 'key', '7', 'key.banned', 98, 'loud', '{}')`,
  );
  await database.pool.query(
    `INSERT INTO events (id, type, pet_id, data) VALUES (gen_random_uuid(), 'pet.created', 1, '{"id":1}')`,
  );
});

/** What a command prints on a terminal of so many columns. */
async function printed(command: string, columns = 42): Promise<string> {
  const { code, stdout, stderr } = await runCommand(command.split(' '), environment, columns);
  expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
  return stdout;
}

it.each([
  [`quotas show ${NAME}`, { client: NAME, plan: 'free' }],
  [`quotas reset ${NAME} --yes`, { client: NAME }],
  ['quotas top', [{ client: NAME, requests: 250 }]],
  ['deprecations', [{ operation: 'getPet', calls: 5 }, { operation: 'gone' }]],
  ['events', [{ type: 'pet.created' }]],
  ['keys rotate 1 --overlap 1h', { replaces: 1 }],
  ['audit --client gone', [{ actor: 'ann', action: 'client.deleted', client: 'gone', keyId: null }]],
  ['audit loud', [{ actor: 'key 7 (automatic)', action: 'key.banned' }]],
  ['version', { version: '1.0.0' }],
])('%s --json is JSON, indented on a terminal of any width', async (command, expected) => {
  const text = await printed(`${command} --json`);
  const value = JSON.parse(text) as unknown;
  expect(value).toMatchObject(expected);
  expect(text).toBe(`${JSON.stringify(value, null, 2)}\n`);
});

it('the audit log is shown as a table, the newest changes first', async () => {
  await printed(`clients set-plan ${NAME} --plan pro`);
  await printed(`clients set-plan ${NAME} --plan free`);
  const [head, ...rows] = (await printed('audit --limit 2', 400)).split('\n');
  expect(head).toMatch(/^id +at +actor +action +client +details$/);
  expect(rows[0]).toMatch(/ client\.plan_changed +a-client-\S+ +{"plan":{"after":"free","before":"pro"}}$/);
  expect(rows[1]).toMatch(/{"plan":{"after":"pro","before":"free"}}$/);
  expect(rows.slice(2)).toEqual(['']);
});

it('quotas are shown in tables that fit the terminal', async () => {
  const window = /window +limit +used +remaining +reset\nminute +60 +0 +60 +-\nday +1000 +\d+ +\d+ +in \d/;
  expect(await printed(`quotas show ${NAME}`, 60)).toMatch(window);
  expect(await printed(`quotas show ${NAME}`)).toContain('\n\nThe running instances save these numbers');
  expect(await printed(`quotas reset ${NAME} --yes`)).toBe(
    `The counted requests of ${NAME} have been set to 0.\n`,
  );
});
