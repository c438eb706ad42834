import { DataSource, type DataSourceOptions } from 'typeorm';
import { describeFailure, failureSettings } from '#libs/messages';
import { migrateToNewest, MIGRATIONS, administrationOptions } from '../../../src/store/data-source';
import { explain } from '../../../src/runtime/failures';
import { aPet } from '../../support/builders';
import { filesOf } from '../../support/files';
import { query } from '../../support/query';
import { type TestDatabase, useDatabase, useDatabases } from '../../support/test-database';
import { useStore } from '../../support/use-service';
import { migrate } from '#libs/database';
import { type TestService, startService } from '../../support/service';

Object.assign(failureSettings, { programName: 'petstore', explain });

const server = process.env.TEST_POSTGRES_URL!;
const database = useDatabases();

const OF_ITS_OWN = 'and the service needs a schema of its own.';

it.each<[what: string, sql: string, line: string, encoding?: string]>([
  [
    'another program’s migrations',
    'CREATE TABLE schema_migrations (version text)',
    `its table schema_migrations belongs to another program, ${OF_ITS_OWN}`,
  ],
  ['a table of ours', 'CREATE TABLE orders (id int)', `relation "orders" already exists, ${OF_ITS_OWN}`],
  [
    'migrations of another version',
    `CREATE TABLE schema_migrations (id serial, timestamp bigint, name text);
     INSERT INTO schema_migrations (timestamp, name) VALUES (9, 'Later9')`,
    'another version of the service has run the migration Later9, which this version does not know.',
  ],
  ['the encoding SQL_ASCII', '', 'its encoding is SQL_ASCII, not UTF8.', `ENCODING 'SQL_ASCII'`],
  [
    'no right to write',
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    'it is read-only: a standby, or default_transaction_read_only is on.',
  ],
])('a database with %s is refused in one line', async (_what, sql, line, encoding = '') => {
  const { url, pool } = await database('template0', `LOCALE 'C' ${encoding}`);
  await pool.query(sql);
  const refused = migrateToNewest(url, () => undefined).then(() => 'nothing', describeFailure);
  expect(await refused).toBe(`petstore: The database cannot be used: ${line}\n`);
});

it('every migration of the folder is one of the service', () => {
  const files = filesOf('src/migrations', '.ts').map((file) => Number(/\d{13}/.exec(file)));
  expect(MIGRATIONS.map(({ name }) => Number(name.slice(-13)))).toEqual(files.sort());
});

const warningsOf = ({ log }: TestService) =>
  log.lines.filter(({ level, context }) => level === 40 && context === 'Database').map(({ msg }) => msg);

describe('a database with settings that would change results', () => {
  const database = useDatabase('template0', `LOCALE_PROVIDER libc LOCALE 'C'`);
  beforeAll(async () => {
    const name = new URL(database.url).pathname.slice(1);
    for (const setting of [
      `DateStyle = 'German, DMY'`,
      `TimeZone = 'Asia/Kathmandu'`,
      `default_transaction_isolation = 'serializable'`,
    ]) {
      await query(server, `ALTER DATABASE ${name} SET ${setting}`);
    }
  });
  const { service, caller, arrange } = useStore(() => ({ database }));

  it('is overruled', async () => {
    const { id } = await arrange.pet(aPet());
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
    expect((await caller.get('/usage')).status).toBe(200);
  });

  it('that knows no letters but those of ASCII is used, and the start says so', () => {
    const line =
      'With the LC_CTYPE of the database, a search by name ignores the case of ASCII letters only.';
    expect(warningsOf(service)).toEqual([line]);
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

/** Creates a store as the first version left it. */
async function olderStore(): Promise<TestDatabase> {
  const older = await database('template1');
  const options = { ...administrationOptions(older.url), migrations: MIGRATIONS.slice(0, 1) };
  const dataSource = await new DataSource(options as DataSourceOptions).initialize();
  await migrate(dataSource, () => undefined);
  await dataSource.destroy();
  return older;
}

/** Runs work on a service over the database. */
async function withService<Result>(
  store: TestDatabase,
  work: (service: TestService) => Promise<Result>,
): Promise<Result> {
  const service = await startService({ database: store });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

it('A store whose collation has changed finds every key, client and repeated request, and the start says what to do', async () => {
  const store = await database();
  const names = Array.from({ length: 60 }, (_none, index) => `${index % 2 ? 'Order' : 'order'}-${index}`);
  const repeated = (service: TestService, keys: string[]) =>
    Promise.all(
      names.map((name, index) =>
        service
          .callerWith(keys[index]!)
          .with({ 'Idempotency-Key': name })
          .post<{ id: number }>('/categories', { name: 'Dogs' }),
      ),
    );
  const [keys, first] = await withService(store, async (service) => {
    expect(warningsOf(service)).toEqual([]);
    const issued = (await Promise.all(names.map(() => service.issueKey()))).map(({ key }) => key);
    return [issued, await repeated(service, issued)] as const;
  });
  // From now on, the database sorts without regard to case, as if the data had been moved to a system that sorts otherwise.
  const otherwise = `UPDATE pg_database SET datlocprovider = 'i', datlocale = 'en-US' WHERE datname = current_database()`;
  await query(store.url, otherwise);
  await withService(store, async (service) => {
    const remedy =
      /^The database was made with version 1 of its collation, and .* REINDEX DATABASE test_\w+; ALTER DATABASE /;
    expect(warningsOf(service)).toEqual([expect.stringMatching(remedy)]);
    const second = await repeated(service, keys);
    expect(second.map(({ status, body }) => [status, body.id])).toEqual(
      first.map(({ body }) => [201, body.id]),
    );
  });
});

it('A migrated store of the version before has rows that were written twice once, and its names in the composed form', async () => {
  const store = await olderStore();
  await store.pool.query(`ALTER TABLE idempotency_records DROP CONSTRAINT idempotency_records_pkey`);
  await store.pool.query(
    `INSERT INTO idempotency_records (name, fingerprint, status, body, created_at)
      VALUES ('1 a', 'x', 201, 'second', now()), ('1 a', 'x', 201, 'first', now() - interval '1 hour'), ('1 b', 'x', 201, 'only', now())`,
  );
  await store.pool.query(
    `ALTER TABLE idempotency_records ADD CONSTRAINT idempotency_records_pkey CHECK (true)`,
  );
  const [typed, composed] = ['e\u0301', '\u00e9'];
  // In the composed form, this character becomes two.
  const long = '\u0958'.repeat(200);
  await store.pool.query(`INSERT INTO categories (name) VALUES ($1), ('Dogs'), ($2)`, [typed, long]);
  await migrateToNewest(store.url, () => undefined);
  const bodies = await store.pool.query<{ body: string }>(
    'SELECT body FROM idempotency_records ORDER BY name',
  );
  expect(bodies.rows.map(({ body }) => body)).toEqual(['first', 'only']);
  const { rows } = await store.pool.query<{ name: string }>('SELECT name FROM categories ORDER BY id');
  expect(rows.map(({ name }) => name)).toEqual([composed, 'Dogs', long]);
});

it('A migrated store has the stock and the open orders of every pet, of deleted ones too', async () => {
  const store = await olderStore();
  await store.pool.query(`
    INSERT INTO categories (name) VALUES ('Dogs');
    INSERT INTO pets (name, category_id, status, stock, open_orders, deleted_at) VALUES
      ('Rex', 1, 'available', 2147483647, 2, NULL), ('Ada', 1, 'pending', 0, 1, NULL), ('Old', NULL, 'sold', 7, 0, now());
    INSERT INTO orders (pet_id, quantity) VALUES (2, 1)`);
  await migrateToNewest(store.url, () => undefined);
  await withService(store, async (service) => {
    const caller = await service.caller();
    const { body } = await caller.get('/store/inventory');
    expect(body).toEqual([
      { petId: 1, quantity: 2147483647, status: 'available' },
      { petId: 2, quantity: 0, status: 'pending' },
    ]);
    expect((await caller.delete('/pets/2')).body).toMatchObject({ code: 'pet_has_open_orders' });
    await caller.patch('/store/orders/1', { complete: true });
    const stock = { petId: 2, quantity: 0, status: 'sold' };
    expect((await caller.get('/store/inventory/2')).body).toEqual(stock);
    expect((await caller.delete('/pets/2')).status).toBe(204);
  });
  const { rows } = await store.pool.query('SELECT stock, open_orders FROM inventory ORDER BY pet_id');
  expect(rows).toEqual([
    { stock: 2147483647, open_orders: 2 },
    { stock: 0, open_orders: 0 },
    { stock: 7, open_orders: 0 },
  ]);
});

it('No index depends on the collation of the database, except for texts whose order is the same in all', async () => {
  const store = await database();
  const { rows } = await store.pool.query<{ index: string; key: string }>(
    `SELECT indexrelid::regclass AS index, pg_get_indexdef(indexrelid, place::int, true) AS key
      FROM pg_index CROSS JOIN unnest(indcollation) WITH ORDINALITY AS part (used, place)
      WHERE indrelid::regclass::text IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
        AND used = 'pg_catalog."default"'::regcollation`,
  );
  expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(['status']));
});

it('Rows are restored as they were into a store of any schema, whatever the search path is, and new webhooks begin at the end of the feed', async () => {
  const { url, pool } = await database('template1');
  await pool.query('CREATE SCHEMA "My shop"');
  const withPath = (path: string) => `${url}&options=-csearch_path%3D${path}`.replace(/^([^?]*)&/, '$1?');
  await migrateToNewest(withPath('"My%5C%20shop"'), () => undefined);
  const event = (schema: string) =>
    `INSERT INTO ${schema}.events (id, type, data) VALUES (gen_random_uuid(), 'pet.created', '{}')`;
  const webhook = `INSERT INTO "My shop".webhooks (client_id, url, secrets, created_at, enabled`;
  // pg_restore works with an empty search_path, too.
  await query(withPath(''), event('"My shop"'));
  await query(
    withPath(''),
    `INSERT INTO "My shop".clients (name, plan) VALUES ('acme', 'free');
     ${webhook}, since) VALUES (1, '', '', now(), true, 0), (1, '', '', now(), false, 0);
     ${webhook}) VALUES (1, '', '', now(), true), (1, '', '', now(), false);
     UPDATE "My shop".webhooks SET enabled = true WHERE id = 2`,
  );
  await query(withPath(''), `ALTER SCHEMA "My shop" RENAME TO shop`);
  await query(withPath(''), event('shop'));
  const { rows } = await pool.query<{ since: number }>('SELECT since FROM shop.webhooks ORDER BY id');
  expect(rows.map(({ since }) => since)).toEqual([0, 1, 1, 1]);
  expect(await query(withPath('shop'), 'SELECT feed_end() AS "end"')).toEqual([{ end: 2 }]);
});
