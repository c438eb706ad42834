import { DataSource } from 'typeorm';
import { useService } from '../../support/use-service';

const service = useService();
const dataSource = (): DataSource => service.app.get(DataSource);

test('the entities describe the tables that the migrations make: TypeORM would change nothing', async () => {
  const { upQueries } = await dataSource().driver.createSchemaBuilder().log();
  expect(upQueries.map(({ query }) => query)).toEqual([]);
});

test('every table and view has an entity', async () => {
  const { rows } = await service.database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const entities = dataSource().entityMetadatas.map(({ tableName }) => tableName);
  expect(rows.map(({ name }) => name).sort()).toEqual([...entities, 'schema_migrations'].sort());
});
