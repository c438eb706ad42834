import { complaint } from '../../support/command-line';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { commandJson, runCommand } from './support/use-command-line';

const databases: TestDatabase[] = [];

async function database(template?: string): Promise<TestDatabase> {
  const created = await createTestDatabase(template);
  databases.push(created);
  return created;
}

afterAll(() => Promise.all(databases.map((one) => one.drop())));

const run = (command: string, { url }: TestDatabase) => runCommand(command.split(' '), { DATABASE_URL: url });
const json = <Printed>(command: string, { url }: TestDatabase) =>
  commandJson<Printed>(command.split(' '), { DATABASE_URL: url });

async function count(table: string, { pool }: TestDatabase): Promise<number> {
  return (await pool.query(`SELECT FROM ${table}`)).rowCount!;
}

it('a database that was never migrated is shown and refused without a change, and migrated once', async () => {
  const empty = await database('template1');
  const states = await json<{ migration: string; state: string }[]>('db status', empty);
  expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['pending']));
  expect((await run('db status', empty)).stdout).toMatch(/^migration +state\n\S+ +pending\n/);
  for (const command of ['clients list', 'db seed']) {
    expect(await run(command, empty)).toEqual(complaint(1, /not up to date\. Run: .* db migrate/));
  }
  expect(await count(`pg_tables WHERE schemaname = 'public'`, empty)).toBe(0);

  const { migrations } = await json<{ migrations: string[] }>('db migrate', empty);
  expect(migrations).toEqual(states.map(({ migration }) => migration));
  expect(await json('db migrate', empty)).toEqual({ migrations: [] });
  expect((await run('db migrate', empty)).stdout).toBe('The database is up to date.\n');
  expect(await json('db status', empty)).toEqual(states.map((one) => ({ ...one, state: 'done' })));
});

it('db seed fills an empty store, issues a key, and does nothing the second time', async () => {
  const migrated = await database();
  const seeded = await json<{ categories: number; pets: number; key: string }>('db seed', migrated);
  expect(seeded.key).toMatch(/^psk_live_\w{36}$/);
  expect(await json('db seed', migrated)).toEqual({ categories: 0, pets: 0, key: null });
  expect((await run('db seed', migrated)).stdout).toMatch(/another key: .* keys issue demo/);
  expect(await count('pets', migrated)).toBe(seeded.pets);
  expect(await count('categories', migrated)).toBe(seeded.categories);
  expect(await count('clients', migrated)).toBe(1);
});

it('db renew-identity makes another store of it, after a confirmation, and a copy is another store by itself', async () => {
  const [store, target] = [await database(), await database('template1')];
  const identity = async ({ pool }: TestDatabase) =>
    (await pool.query<{ id: string }>('SELECT id FROM store_identity')).rows.map(({ id }) => id);
  const before = await identity(store);
  expect(await run('db renew-identity', store)).toMatchObject({ code: 2, stdout: '' });
  expect(await identity(store)).toEqual(before);
  const { id } = await json<{ id: string }>('db renew-identity --yes', store);
  expect([await identity(store), before]).toEqual([[id], [expect.not.stringContaining(id)]]);
  await run(`db copy --to ${target.url}`, store);
  expect(await identity(target)).toEqual([expect.not.stringContaining(id)]);
  expect(await identity(store)).toEqual([id]);
});

const secret = 'not-to-be-seen';

function onServer(change: Partial<URL>): string {
  return Object.assign(new URL(process.env.TEST_POSTGRES_URL!), change).href;
}

function withOptions(options: string): string {
  return onServer({ password: secret, search: `?options=${options}` });
}

const refused = ({ source }: RegExp) => new RegExp(`database of DATABASE_URL cannot be used: ${source}`);

it.each([
  ['unreachable', `postgres://user:${secret}@127.0.0.1:1/store`, /DATABASE_URL cannot be reached/],
  ['locked', onServer({ username: 'nobody', password: secret }), /DATABASE_URL.*"nobody" does not exist/],
  ['missing', onServer({ pathname: '/nowhere' }), /DATABASE_URL.*"nowhere" does not exist/],
  [
    'without an option of the URL',
    withOptions('-cnosuch%3D1'),
    refused(/unrecognized .* parameter "nosuch"/),
  ],
  ['without a value of the URL', withOptions('-cwork_mem%3Dabc'), refused(/invalid value for .*: "abc"/)],
  ['refusing the form of options', withOptions('-cwork_mem'), refused(/-c work_mem requires a value/)],
])('a database that is %s is reported in one line without its password', async (_what, url, line) => {
  for (const command of ['clients list', 'db status']) {
    const outcome = await runCommand(command.split(' '), { DATABASE_URL: url });
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain(secret);
  }
});
