import { ViewColumn, ViewEntity } from 'typeorm';
import { int8 } from '#libs/database';
import type { PetStatus } from '../pets';

/** Stock together with the pet's status, of pets that are not deleted; both from the same moment. */
@ViewEntity('inventory_items', { synchronize: false })
export class InventoryItem {
  @ViewColumn({ name: 'pet_id', transformer: int8 })
  petId!: number;

  @ViewColumn()
  quantity!: number;

  @ViewColumn()
  status!: PetStatus;
}
