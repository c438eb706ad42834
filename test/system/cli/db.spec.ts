import { complaint, petstore, petstoreJson } from '../../support/command-line';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const databases: TestDatabase[] = [];

async function database(template?: string): Promise<TestDatabase> {
  const created = await createTestDatabase(template);
  databases.push(created);
  return created;
}

afterAll(() => Promise.all(databases.map((one) => one.drop())));

const run = (args: string[], { url }: TestDatabase) => petstore(args, { DATABASE_URL: url });
const json = <Printed>(args: string[], { url }: TestDatabase) =>
  petstoreJson<Printed>(args, { DATABASE_URL: url });

async function tablesOf({ pool }: TestDatabase): Promise<unknown> {
  return (await pool.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).rowCount;
}

describe('a database that was never migrated', () => {
  it('is shown by db status, which changes nothing', async () => {
    const empty = await database('template1');
    const states = await json<{ migration: string; state: string }[]>(['db', 'status'], empty);
    expect(states.length).toBeGreaterThan(0);
    expect(states.every(({ state }) => state === 'pending')).toBe(true);
    expect((await run(['db', 'status'], empty)).stdout).toMatch(/^migration +state\n\S+ +pending\n/);
    expect(await tablesOf(empty)).toBe(0);
  });

  it('is refused by every other command, which says what to do', async () => {
    const empty = await database('template1');
    const commands = [
      ['clients', 'list'],
      ['keys', 'list'],
      ['db', 'seed'],
    ];
    for (const command of commands) {
      expect(await run(command, empty)).toEqual(
        complaint(1, /not up to date\. Run: .*petstore\S* db migrate/),
      );
    }
    expect(await tablesOf(empty)).toBe(0);
  });

  it('is migrated once by db migrate', async () => {
    const empty = await database('template1');
    const { migrations } = await json<{ migrations: string[] }>(['db', 'migrate'], empty);
    expect(migrations.length).toBeGreaterThan(0);
    expect(await json(['db', 'migrate'], empty)).toEqual({ migrations: [] });
    expect((await run(['db', 'migrate'], empty)).stdout).toBe('The database is up to date.\n');
    expect(await json(['db', 'status'], empty)).toEqual(
      migrations.map((migration) => ({ migration, state: 'done' })),
    );
  });
});

describe('db seed', () => {
  it('fills an empty store, issues a key, and does nothing the second time', async () => {
    const migrated = await database();
    const seeded = await json<{ categories: number; pets: number; key: string }>(['db', 'seed'], migrated);
    expect(seeded.key).toMatch(/^psk_live_\w{36}$/);
    const count = async (table: string) =>
      Number((await migrated.pool.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`)).rows[0]!.n);
    expect(await count('pets')).toBe(seeded.pets);
    expect(await count('categories')).toBe(seeded.categories);
    expect(await json(['db', 'seed'], migrated)).toEqual({ categories: 0, pets: 0, key: null });
    const { stdout } = await run(['db', 'seed'], migrated);
    expect(stdout).toMatch(/another key: .*petstore\S* keys issue --client demo/);
    expect(await count('pets')).toBe(seeded.pets);
    expect(await count('clients')).toBe(1);
  });
});

const secret = 'not-to-be-seen';

function onServer(change: Partial<URL>): string {
  return Object.assign(new URL(process.env.TEST_POSTGRES_URL!), change).href;
}

it.each([
  ['unreachable', `postgres://user:${secret}@127.0.0.1:1/store`, /DATABASE_URL cannot be reached/],
  ['locked', onServer({ password: secret }), /DATABASE_URL.*password authentication failed/],
  ['missing', onServer({ pathname: '/nowhere' }), /DATABASE_URL.*"nowhere" does not exist/],
  ['no PostgreSQL', `mysql://u:${secret}@host/store`, /DATABASE_URL takes a URL that starts with/],
])('a database that is %s is reported in one line without its password', async (_what, url, line) => {
  for (const command of [
    ['clients', 'list'],
    ['db', 'status'],
  ]) {
    const outcome = await petstore(command, { DATABASE_URL: url });
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain(secret);
  }
});
