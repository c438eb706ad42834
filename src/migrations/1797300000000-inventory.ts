import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Moves the stock and the number of open orders of each pet into a table of their own. The lock prevents changes of
 * pets during the move.
 */
const INVENTORY = [
  `LOCK TABLE pets IN ACCESS EXCLUSIVE MODE`,
  `CREATE TABLE inventory (
    pet_id bigint NOT NULL,
    stock integer NOT NULL CHECK (stock >= 0),
    open_orders integer NOT NULL DEFAULT 0 CHECK (open_orders >= 0)
  -- The free space lets PostgreSQL change a row without touching the index.
  ) WITH (fillfactor = 90)`,
  `INSERT INTO inventory (pet_id, stock, open_orders) SELECT id, stock, open_orders FROM pets ORDER BY id`,
  `ALTER TABLE inventory ADD PRIMARY KEY (pet_id),
    ADD CONSTRAINT inventory_pet_fk FOREIGN KEY (pet_id) REFERENCES pets (id)`,
  `ALTER TABLE pets DROP COLUMN stock, DROP COLUMN open_orders`,
];

export class Inventory1797300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of INVENTORY) {
      await queryRunner.query(statement);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('This migration cannot be undone: restore a backup instead.'));
  }
}
