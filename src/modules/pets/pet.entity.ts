import { Column, Entity } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { PetStatus } from './pet-status';

@Entity('pets')
export class Pet {
  @GeneratedId()
  id!: number;

  @Column('text')
  name!: string;

  /** Null only for a deleted pet, whose category is in `formerCategoryId`. */
  @Column({ name: 'category_id', type: 'bigint', transformer: int8, nullable: true })
  categoryId!: number | null;

  @Column({ name: 'former_category_id', type: 'bigint', transformer: int8, nullable: true })
  formerCategoryId!: number | null;

  @Column('text')
  status!: PetStatus;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt!: Date | null;
}
