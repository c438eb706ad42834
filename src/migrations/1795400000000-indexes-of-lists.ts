import { sqlMigration } from './sql-migration';

const UP = [
  // Rows of deleted pets are kept, but lists must not read them.
  `CREATE INDEX pets_in_order ON pets (id) WHERE deleted_at IS NULL`,
  // Deleted pets have no category. With this condition, the index also serves the foreign key check, which does not
  // know deleted_at. It sorts statuses in descending order, unlike the index on statuses, so that the planner cannot
  // confuse the two.
  `DROP INDEX pets_by_category`,
  `CREATE INDEX pets_by_category ON pets (category_id, status DESC, id) WHERE category_id IS NOT NULL`,
  // Name lookups use only these indexes; for that, the planner needs the column itself in them.
  `DROP INDEX pets_name_prefix`,
  `CREATE INDEX pets_name_prefix ON pets (lower(name) text_pattern_ops, id) INCLUDE (name) WHERE deleted_at IS NULL`,
  `DROP INDEX categories_name_prefix`,
  `CREATE INDEX categories_name_prefix ON categories (lower(name) text_pattern_ops, id) INCLUDE (name)`,

  // All orders of a pet, or only open or complete ones; descending for the same reason.
  `DROP INDEX orders_by_pet, orders_open`,
  `CREATE INDEX orders_by_pet ON orders (pet_id, complete DESC, id) WHERE cancelled_at IS NULL`,

  // The planner expects no rows for a day that is not in its statistics yet, so the index must serve the clients of
  // that day, too.
  `DROP INDEX usage_days_by_day`,
  `CREATE INDEX usage_days_by_day ON usage_days (day, client_id)`,

  // OFFSET 0 makes PostgreSQL look up the stock for each pet. A free join could scan the stock in parallel with the
  // pets, including deleted ones.
  `CREATE OR REPLACE VIEW inventory_items AS
    SELECT pets.id AS pet_id, stock.quantity, pets.status
    FROM pets CROSS JOIN LATERAL (SELECT quantity FROM inventory WHERE inventory.pet_id = pets.id OFFSET 0) AS stock
    WHERE pets.deleted_at IS NULL`,
];

const DOWN = [
  `CREATE OR REPLACE VIEW inventory_items AS
    SELECT inventory.pet_id, inventory.quantity, pets.status
    FROM inventory JOIN pets ON pets.id = inventory.pet_id WHERE pets.deleted_at IS NULL`,
  `DROP INDEX usage_days_by_day`,
  `CREATE INDEX usage_days_by_day ON usage_days (day)`,
  `DROP INDEX orders_by_pet`,
  `CREATE INDEX orders_open ON orders (pet_id) WHERE NOT complete AND cancelled_at IS NULL`,
  `CREATE INDEX orders_by_pet ON orders (pet_id, id) WHERE cancelled_at IS NULL`,
  `DROP INDEX categories_name_prefix`,
  `CREATE INDEX categories_name_prefix ON categories (lower(name) text_pattern_ops, id)`,
  `DROP INDEX pets_name_prefix`,
  `CREATE INDEX pets_name_prefix ON pets (lower(name) text_pattern_ops, id) WHERE deleted_at IS NULL`,
  `DROP INDEX pets_by_category`,
  `CREATE INDEX pets_by_category ON pets (category_id, id) WHERE deleted_at IS NULL`,
  `DROP INDEX pets_in_order`,
];

/** Pages of lists are read in the order of an index, whatever the filters are. */
export const IndexesOfLists1795400000000 = sqlMigration('IndexesOfLists1795400000000', UP, DOWN);
