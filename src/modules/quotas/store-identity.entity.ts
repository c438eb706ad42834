import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A table with one row, which contains the identity of this pet store. The identity is part of every key in Redis, so
 * that several stores can use the same Redis.
 */
@Entity('store_identity')
@Check('store_identity_one_check', 'one')
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  one!: true;

  @Column('uuid')
  id!: string;
}
