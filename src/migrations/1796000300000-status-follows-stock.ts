import { sqlMigration } from './sql-migration';

/** An available pet can be ordered, so one without stock is pending while an order is open, else sold. */
export const StatusFollowsStock1796000300000 = sqlMigration(
  'StatusFollowsStock1796000300000',
  [
    `UPDATE pets SET status = CASE WHEN EXISTS
        (SELECT FROM orders WHERE pet_id = pets.id AND cancelled_at IS NULL AND complete = false)
        THEN 'pending' ELSE 'sold' END
      FROM inventory WHERE inventory.pet_id = pets.id AND quantity = 0
        AND deleted_at IS NULL AND status IN ('available', 'pending')`,
  ],
  [],
);
