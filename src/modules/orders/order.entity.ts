import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { GeneratedId, WRITTEN_BY_SQL } from '#libs/database';

@Entity('orders')
@Check('orders_quantity_check', 'quantity >= 1')
@Check('orders_check', 'NOT (complete AND cancelled_at IS NOT NULL)')
@Index('orders_by_complete', ['complete', 'id'], { where: 'cancelled_at IS NULL' })
// A migration creates this index with a descending column, which TypeORM's decorators cannot describe.
@Index('orders_by_pet', { synchronize: false })
export class Order {
  @GeneratedId()
  id!: number;

  @ForeignKey('Pet')
  @Column({ name: 'pet_id', type: 'bigint' })
  petId!: number;

  @Column('int')
  quantity!: number;

  @Column({ name: 'ship_date', type: 'timestamptz', nullable: true })
  shipDate!: Date | null;

  @Column('boolean', { default: false })
  complete!: boolean;

  @Column({ name: 'placed_at', type: 'timestamptz', default: () => 'now()', ...WRITTEN_BY_SQL })
  placedAt?: Date;

  @Column({ name: 'cancelled_at', type: 'timestamptz', nullable: true })
  cancelledAt!: Date | null;
}
