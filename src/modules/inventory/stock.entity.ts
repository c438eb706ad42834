import { Column, Entity, PrimaryColumn } from 'typeorm';
import { int8 } from '#libs/database';

/** The units of a pet in stock. Every pet has one row, from its creation on. */
@Entity('inventory')
export class Stock {
  @PrimaryColumn({ name: 'pet_id', type: 'bigint', transformer: int8 })
  petId!: number;

  @Column('int')
  quantity!: number;
}
