import { DataSource } from 'typeorm';
import { dataSourceOptions, migrateToNewest } from '../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase('template1');
  await migrateToNewest(database.url, () => undefined);
  dataSource = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

test('the entities describe the tables that the migrations make: TypeORM would change nothing', async () => {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  expect(upQueries.map(({ query }) => query)).toEqual([]);
});

test('every table and view has an entity', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const entities = dataSource.entityMetadatas.map(({ tableName }) => tableName);
  expect(rows.map(({ name }) => name).sort()).toEqual([...entities, 'schema_migrations'].sort());
});
