import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NotificationListener } from '#libs/database';
import { until } from '../../support/eventually';
import { randomBytes } from 'node:crypto';
import { migrateToNewest } from '../../../src/runtime/data-source';
import { explain } from '../../../src/runtime/failures';
import { aPet } from '../../support/builders';
import { query } from '../../support/query';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { useStore } from '../../support/use-service';

const server = process.env.TEST_POSTGRES_URL!;
const made: string[] = [];

afterAll(async () => {
  for (const statement of made) {
    await query(server, statement);
  }
});

function unique(kind: string): string {
  const name = `${kind}_${randomBytes(6).toString('hex')}`;
  made.unshift(`DROP ${kind} ${name}${kind === 'database' ? ' WITH (FORCE)' : ''}`);
  return name;
}

function at(pathname: string): string {
  return Object.assign(new URL(server), { pathname }).href;
}

/** What a start says about it. */
async function complaint(url: string): Promise<string> {
  return migrateToNewest(url, () => undefined).then(() => 'nothing', explain);
}

const OF_ITS_OWN = 'and the service needs a schema of its own.';

it.each([
  [
    'another program’s migrations',
    'CREATE TABLE schema_migrations (version text)',
    `its table schema_migrations belongs to another program, ${OF_ITS_OWN}`,
  ],
  ['a table of ours', 'CREATE TABLE orders (id int)', `relation "orders" already exists, ${OF_ITS_OWN}`],
  [
    'migrations of a newer version',
    `CREATE TABLE schema_migrations (id serial, timestamp bigint, name text);
     INSERT INTO schema_migrations (timestamp, name) VALUES (9, 'Later9')`,
    'it has the migration Later9 of another, probably newer version.',
  ],
])('a database with %s is refused in one line', async (_what, sql, line) => {
  const database = await createTestDatabase('template1');
  try {
    await database.pool.query(sql);
    expect(await complaint(database.url)).toBe(`petstore: The database cannot be used: ${line}\n`);
  } finally {
    await database.drop();
  }
});

it.each([
  ['the encoding LATIN1', `ENCODING 'LATIN1'`, '', 'its encoding is LATIN1, not UTF8.'],
  ['the encoding SQL_ASCII', `ENCODING 'SQL_ASCII'`, '', 'its encoding is SQL_ASCII, not UTF8.'],
  [
    'no right to write',
    '',
    'default_transaction_read_only = on',
    'it is read-only: a standby, or default_transaction_read_only is on.',
  ],
])('a database with %s is refused in one line', async (_what, encoding, setting, line) => {
  const name = unique('database');
  await query(server, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE 'C' ${encoding}`);
  if (setting !== '') {
    await query(server, `ALTER DATABASE ${name} SET ${setting}`);
  }
  expect(await complaint(at(`/${name}`))).toBe(`petstore: The database cannot be used: ${line}\n`);
});

describe('a database with settings that would change results', () => {
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
    const name = new URL(database.url).pathname.slice(1);
    for (const setting of [
      `DateStyle = 'German, DMY'`,
      `TimeZone = 'Asia/Kathmandu'`,
      `default_transaction_isolation = 'serializable'`,
    ]) {
      await query(server, `ALTER DATABASE ${name} SET ${setting}`);
    }
  });
  afterAll(() => database.drop());
  const { caller, arrange } = useStore(() => ({ database }));

  it('is overruled', async () => {
    const { id } = await arrange.pet(aPet());
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
    expect((await caller.get('/usage')).status).toBe(200);
  });
});

describe('a server without another connection', () => {
  const database = {} as TestDatabase;
  let databaseUrl: string;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
    const role = unique('role');
    const { username } = new URL(server);
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT 4 IN ROLE ${username}`);
    databaseUrl = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href;
  });
  afterAll(() => database.drop());
  const { caller } = useStore(() => ({ database, databaseUrl }));

  it('makes requests wait for those that there are', async () => {
    const requests = Array.from({ length: 60 }, async (_, turn) => {
      const { status } = await caller.post('/categories', { name: `category ${turn}` });
      return [status, (await caller.get(`/pets?name=${turn}`)).status];
    });
    expect(await Promise.all(requests)).toEqual(requests.map(() => [201, 200]));
  });
});

describe('a server whose password changes', () => {
  const database = {} as TestDatabase;
  const role = unique('role');
  const folder = mkdtempSync(join(tmpdir(), 'petstore-secret-'));
  const file = join(folder, 'database-url');
  let databaseUrl: string;

  const withPassword = (password: string) =>
    Object.assign(new URL(database.url), { username: role, password }).href;

  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
    const { username } = new URL(server);
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD 'before' IN ROLE ${username}`);
    databaseUrl = withPassword('before');
    writeFileSync(file, databaseUrl);
    process.env.DATABASE_URL_FILE = file;
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterAll(() => database.drop());
  const { service, caller } = useStore(() => ({ database, databaseUrl }));

  it('is used on with the password that the file has then, for requests and for listening', async () => {
    const states: boolean[] = [];
    const subscription = { channels: ['states'], onNotification: () => undefined };
    const onState = (listening: boolean) => states.push(listening);
    await service.app.get(NotificationListener).subscribe({ ...subscription, onState });
    await query(server, `ALTER ROLE ${role} PASSWORD 'after'`);
    await query(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    const seen = new Set<number>();
    await until(async () => seen.add((await caller.get('/pets')).status).size > 1 || !seen.has(200));
    expect([...seen].filter((status) => status !== 200)).toEqual([503]);
    writeFileSync(file, `${withPassword('after')}\n`);
    await until(async () => (await caller.get('/pets')).status === 200);
    await until(() => states.join() === 'true,false,true');
  });
});
