import { Check, Column, Entity, ForeignKey, PrimaryColumn, ViewColumn, ViewEntity } from 'typeorm';
import type { PetStatus } from '../pets';

/**
 * The stock of a pet. A command that changes the stock locks the pet's row and then this row, because the pet's status
 * follows the stock.
 */
@Entity('inventory')
@Check('inventory_stock_check', 'stock >= 0')
@Check('inventory_open_orders_check', 'open_orders >= 0')
export class InventoryItem {
  @ForeignKey('Pet', { name: 'inventory_pet_fk' })
  @PrimaryColumn({ name: 'pet_id', type: 'bigint' })
  petId!: number;

  @Column('int')
  stock!: number;

  @Column({ name: 'open_orders', type: 'int', default: 0 })
  openOrders!: number;
}

/**
 * The stock and the status of a pet, for reads. The database has no such view, because each statement contains the
 * query. The stock is read by a subquery instead of a join, so that PostgreSQL reads only the stock of the listed pets.
 */
@ViewEntity('stock_with_status', {
  synchronize: false,
  expression: `SELECT id AS pet_id, (SELECT stock FROM inventory WHERE pet_id = pets.id) AS stock, status
    FROM pets WHERE deleted_at IS NULL`,
})
export class StockWithStatus {
  @ViewColumn({ name: 'pet_id' })
  petId!: number;

  @ViewColumn()
  stock!: number;

  @ViewColumn()
  status!: PetStatus;
}
