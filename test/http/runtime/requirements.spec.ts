import { until } from '../../support/eventually';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { describeFailure, program } from '#libs/messages';
import { migrateToNewest } from '../../../src/runtime/data-source';
import { explain } from '../../../src/runtime/failures';
import { aPet } from '../../support/builders';
import { query } from '../../support/query';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { useStore } from '../../support/use-service';

Object.assign(program, { name: 'petstore', explain });

const server = process.env.TEST_POSTGRES_URL!;

/** What a start says about it. */
async function complaint(url: string): Promise<string> {
  return migrateToNewest(url, () => undefined).then(() => 'nothing', describeFailure);
}

const OF_ITS_OWN = 'and the service needs a schema of its own.';

it.each([
  [
    'another program’s migrations',
    'CREATE TABLE schema_migrations (version text)',
    `its table schema_migrations belongs to another program, ${OF_ITS_OWN}`,
    '',
  ],
  ['a table of ours', 'CREATE TABLE orders (id int)', `relation "orders" already exists, ${OF_ITS_OWN}`, ''],
  [
    'migrations of another version',
    `CREATE TABLE schema_migrations (id serial, timestamp bigint, name text);
     INSERT INTO schema_migrations (timestamp, name) VALUES (9, 'Later9')`,
    'another version of the service has run the migration Later9, which this version does not know.',
    '',
  ],
  ['the encoding SQL_ASCII', '', 'its encoding is SQL_ASCII, not UTF8.', `ENCODING 'SQL_ASCII'`],
  [
    'no right to write',
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    'it is read-only: a standby, or default_transaction_read_only is on.',
    '',
  ],
])('a database with %s is refused in one line', async (_what, sql, line, encoding) => {
  const database = await createTestDatabase('template0', `LOCALE 'C' ${encoding}`);
  try {
    await database.pool.query(sql);
    expect(await complaint(database.url)).toBe(`petstore: The database cannot be used: ${line}\n`);
  } finally {
    await database.drop();
  }
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
  const { service, caller, arrange } = useStore(() => ({ database }));

  it('is overruled', async () => {
    const { id } = await arrange.pet(aPet());
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
    expect((await caller.get('/usage')).status).toBe(200);
  });

  const dataSource = () => service.app.get(DataSource);

  it('has the tables that the entities describe: TypeORM would change nothing', async () => {
    const { upQueries } = await dataSource().driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('has no table and no view without an entity, but those that are read and written in one place', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const stored = dataSource().entityMetadatas.filter(({ tableType }) => tableType !== 'view');
    const entities = stored.map(({ tableName }) => tableName);
    expect(rows.map(({ name }) => name).sort()).toEqual(
      [...entities, 'instances', 'schema_migrations'].sort(),
    );
  });
});

describe('a server with too few connections', () => {
  const database = {} as TestDatabase;
  const role = `role_${randomBytes(6).toString('hex')}`;
  let databaseUrl: string;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
    const { username } = new URL(server);
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT 2 IN ROLE ${username}`);
    databaseUrl = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href;
  });
  afterAll(async () => {
    await database.drop();
    await query(server, `DROP ROLE ${role}`);
  });
  const { caller } = useStore(() => ({ database, databaseUrl }));

  it('fails requests with 503 only, and none any more once it has enough', async () => {
    const create = async () => (await caller.post('/categories', { name: 'Dogs' })).status;
    const statuses = await Promise.all(Array.from({ length: 60 }, create));
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    await query(server, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
    await until(async () => (await create()) === 201);
    expect(new Set(await Promise.all(Array.from({ length: 60 }, create)))).toEqual(new Set([201]));
  });
});
