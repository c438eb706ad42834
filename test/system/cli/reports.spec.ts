import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registeredCommands } from './support/registered-commands';
import { runCommand, useCommandLine } from './support/use-command-line';

const folder = mkdtempSync(join(tmpdir(), 'petstore-reports-'));
const catalogue = join(folder, 'catalogue.ndjson');

/** What commands are called with, in the order in which they are run; every other one is run after them, with nothing. */
const ARGUMENTS: Record<string, string[]> = {
  'clients create': ['--name', 'acme'],
  'clients set-plan': ['acme', '--plan', 'pro'],
  'clients show': ['acme'],
  'keys issue': ['--client', 'acme'],
  'keys rotate': ['1'],
  'keys ban': ['2', '--for', '1h'],
  'quotas show': ['acme'],
  'quotas reset': ['acme', '--yes'],
  'keys unban': ['2'],
  'keys show': ['2'],
  'keys revoke': ['2', '--yes'],
  'webhooks show': ['1'],
  'webhooks disable': ['1'],
  'webhooks enable': ['1'],
  'webhooks test': ['1'],
  'webhooks retry': ['1'],
  export: [catalogue],
  import: [catalogue, '--yes'],
};

/** What needs another database or a running service, and is run in a test of its own. */
const ELSEWHERE = ['db copy', 'status', 'api'];

const { database, environment } = useCommandLine();

beforeAll(async () => {
  await database.pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
  await database.pool.query(`INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'available')`);
  await database.pool.query(`INSERT INTO inventory VALUES (1, 3)`);
  await database.pool.query(
    `WITH receiver AS (INSERT INTO clients (name, plan) VALUES ('receiver', 'free') RETURNING id)
     INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
     SELECT id, 'https://example.com/hook', true, '[]', now() FROM receiver`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What each of the commands prints on a terminal. */
async function outputs(commands: string[][], columns = 42): Promise<string[]> {
  const printed: string[] = [];
  for (const args of commands) {
    const { code, stdout, stderr } = await runCommand(args, environment, columns);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    printed.push(stdout);
  }
  return printed;
}

it('every command that reports prints JSON with --json, without colours and indented on a terminal of any width', async () => {
  const reporting = (await registeredCommands())
    .filter(({ path }) => !ELSEWHERE.includes(path))
    .filter(({ command }) => command.options.some(({ long }) => long === '--json'))
    .map(({ path }) => path);
  expect(reporting).toEqual(expect.arrayContaining(Object.keys(ARGUMENTS)));
  const paths = [...new Set([...Object.keys(ARGUMENTS), ...reporting])];
  const printed = await outputs(
    paths.map((path) => [...path.split(' '), ...(ARGUMENTS[path] ?? []), '--json']),
  );
  const broken = paths.filter((_path, index) => !isIndentedJson(printed[index]!));
  expect(broken).toEqual([]);
});

function isIndentedJson(text: string): boolean {
  return text === `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
}

it('quotas and deprecations are shown in tables that fit the terminal', async () => {
  await database.pool.query(
    `INSERT INTO clients (name, plan) VALUES ('a-client-with-a-name-that-is-quite-long', 'free')`,
  );
  await database.pool.query(
    `INSERT INTO api_keys (client_id, digest, last4, scopes)
     SELECT id, 'digest', 'ab12', '{read}' FROM clients WHERE name LIKE 'a-client%'`,
  );
  await database.pool.query(
    `INSERT INTO deprecated_calls SELECT id, operation, (now() AT TIME ZONE 'UTC')::date, 5, '2026-11-20T10:00:00Z'
     FROM api_keys, unnest(ARRAY['getPet', 'gone']) AS operation WHERE last4 = 'ab12'`,
  );
  await database.pool.query(
    `INSERT INTO usage_days SELECT id, (now() AT TIME ZONE 'UTC')::date, 250 FROM clients WHERE name LIKE 'a-client%'`,
  );
  const name = 'a-client-with-a-name-that-is-quite-long';
  const [show] = await outputs([['quotas', 'show', name]], 60);
  const [top, reset, report] = await outputs([
    ['quotas', 'top', '--limit', '1'],
    ['quotas', 'reset', name, '--yes'],
    ['deprecations', '--client', name],
  ]);
  expect(show).toMatch(
    /plan +free\n\nwindow +limit +used +remaining +resetAt\nminute +60 +0 +60 +-\nday +1000 +250 +750 +\d{4}-\d\d-\d\dT/,
  );
  expect(show).toContain('\n\nWhat the running servers have saved');
  expect(top).toMatch(/^client +plan +requests\na-client-\S+ +free +250\n/);
  expect(reset).toBe(`The windows of ${name} have been reset.\n`);
  expect(report).toMatch(
    /^operation +getPet\nclient +a-client-\S+\nkeyId +\d+\nendsWith +ab12\ncalls +5\nlastCallAt +2026-11-20T10:00:00\.000Z\n\noperation +gone\n/,
  );
});
