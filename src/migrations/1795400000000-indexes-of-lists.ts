import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // Deleted pets stay, and a list must not go through them.
  `CREATE INDEX pets_in_order ON pets (id) WHERE deleted_at IS NULL`,
  // Deleted pets have no category. Said in terms of that, the index also serves the foreign key, which has to find out
  // whether a category is in use and does not know of deleted_at. Unlike that of the statuses alone it sorts them downwards:
  // a list that asks for that order is never read through the other one.
  `DROP INDEX pets_by_category`,
  `CREATE INDEX pets_by_category ON pets (category_id, status DESC, id) WHERE category_id IS NOT NULL`,
  // Names are looked up in these indexes alone, for which the planner wants the column itself in them.
  `DROP INDEX pets_name_prefix`,
  `CREATE INDEX pets_name_prefix ON pets (lower(name) text_pattern_ops, id) INCLUDE (name) WHERE deleted_at IS NULL`,
  `DROP INDEX categories_name_prefix`,
  `CREATE INDEX categories_name_prefix ON categories (lower(name) text_pattern_ops, id) INCLUDE (name)`,

  // All orders of a pet, the open ones or the complete ones; downwards for the same reason.
  `DROP INDEX orders_by_pet, orders_open`,
  `CREATE INDEX orders_by_pet ON orders (pet_id, complete DESC, id) WHERE cancelled_at IS NULL`,

  // Of a day that the planner has not heard of yet it expects no rows, so the index has to hold for that day's clients, too.
  `DROP INDEX usage_days_by_day`,
  `CREATE INDEX usage_days_by_day ON usage_days (day, client_id)`,

  // OFFSET 0 makes the stock something to look up for each pet. Joined freely, it could be gone through side by side with
  // the pets, and the deleted ones with it.
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

/** A page of a list is read in the order of an index, whatever it is filtered by. */
export class IndexesOfLists1795400000000 implements MigrationInterface {
  readonly name = 'IndexesOfLists1795400000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) {
      await queryRunner.query(statement);
    }
  }
}
