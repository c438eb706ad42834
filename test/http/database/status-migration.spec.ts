import { DataSource } from 'typeorm';
import { StatusFollowsStock1796000300000 } from '../../../src/migrations/1796000300000-status-follows-stock';
import { dataSourceOptions } from '../../../src/runtime/data-source';
import { createTestDatabase } from '../../support/test-database';

test('a store whose pets without stock were available or pending gets the status that stock and orders decide', async () => {
  const database = await createTestDatabase();
  const dataSource = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
  await database.pool.query(`
    INSERT INTO categories (name) VALUES ('Dogs');
    INSERT INTO pets (name, category_id, status) VALUES
      ('sold out', 1, 'available'), ('ordered', 1, 'available'), ('waiting', 1, 'pending'), ('held', 1, 'pending'),
      ('in stock', 1, 'available'), ('cancelled', 1, 'pending');
    INSERT INTO inventory (pet_id, quantity) SELECT id, CASE WHEN id IN (4, 5) THEN 1 ELSE 0 END FROM pets;
    INSERT INTO orders (pet_id, quantity, complete, cancelled_at) VALUES
      (1, 1, true, NULL), (2, 1, false, NULL), (3, 1, false, NULL), (6, 1, false, now())`);
  await new StatusFollowsStock1796000300000().up(dataSource.createQueryRunner());
  const { rows } = await database.pool.query<{ name: string; status: string }>(
    'SELECT name, status FROM pets ORDER BY id',
  );
  expect(rows.map(({ name, status }) => `${name}: ${status}`)).toEqual([
    'sold out: sold',
    'ordered: pending',
    'waiting: pending',
    'held: pending',
    'in stock: available',
    'cancelled: sold',
  ]);
  await dataSource.destroy();
  await database.drop();
});
