import { ViewColumn, ViewEntity } from 'typeorm';
import { int8 } from '#libs/database';
import type { PetStatus } from '../pets';

/** A consistent view of stock and status, without deleted pets. */
@ViewEntity('inventory_items', { synchronize: false })
export class InventoryItem {
  @ViewColumn({ name: 'pet_id', transformer: int8 })
  petId!: number;

  @ViewColumn()
  quantity!: number;

  @ViewColumn()
  status!: PetStatus;
}
