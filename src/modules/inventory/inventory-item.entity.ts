import { ViewColumn, ViewEntity } from 'typeorm';
import type { PetStatus } from '../pets';

/** The stock of a pet that is not deleted, from its row. */
@ViewEntity('inventory_items', { synchronize: false })
export class InventoryItem {
  @ViewColumn({ name: 'pet_id' })
  petId!: number;

  @ViewColumn()
  quantity!: number;

  @ViewColumn()
  status!: PetStatus;
}
