import { Column, Entity } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { OrderStatus } from './order-status';

@Entity('orders')
export class Order {
  @GeneratedId()
  id!: number;

  @Column({ name: 'pet_id', type: 'bigint', transformer: int8 })
  petId!: number;

  @Column('int')
  quantity!: number;

  @Column({ name: 'ship_date', type: 'timestamptz', nullable: true })
  shipDate!: Date | null;

  @Column('boolean')
  complete!: boolean;

  @Column({ name: 'cancelled_at', type: 'timestamptz', nullable: true })
  cancelledAt!: Date | null;
}

export function statusOf({ complete, cancelledAt }: Order): OrderStatus {
  if (cancelledAt !== null) {
    return 'cancelled';
  }
  return complete ? 'complete' : 'open';
}
