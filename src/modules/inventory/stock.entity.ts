import { Check, Column, Entity, ForeignKey, PrimaryColumn, ViewColumn, ViewEntity } from 'typeorm';
import type { PetStatus } from '../pets';

/** The units of a pet in stock. Every pet has one row, from its creation on. */
@Entity('inventory')
@Check('inventory_never_below_zero', 'quantity >= 0')
export class Stock {
  @ForeignKey('Pet')
  @PrimaryColumn({ name: 'pet_id', type: 'bigint' })
  petId!: number;

  @Column('int')
  quantity!: number;
}

/** A consistent view of stock and status, without deleted pets. */
@ViewEntity('inventory_items', { synchronize: false })
export class InventoryItem {
  @ViewColumn({ name: 'pet_id' })
  petId!: number;

  @ViewColumn()
  quantity!: number;

  @ViewColumn()
  status!: PetStatus;
}
