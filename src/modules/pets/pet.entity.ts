import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { GeneratedId, WRITTEN_BY_SQL } from '#libs/database';
import type { PetStatus } from './pet-status';

@Entity('pets')
@Check('pets_name_check', 'char_length(name) BETWEEN 1 AND 200')
@Check('pets_status_check', `status IN ('available', 'pending', 'sold')`)
@Check('pets_check', '(deleted_at IS NULL) = (category_id IS NOT NULL)')
@Index('pets_in_order', ['id'], { where: 'deleted_at IS NULL' })
@Index('pets_by_status', ['status', 'id'], { where: 'deleted_at IS NULL' })
// Migrations create these indexes, because TypeORM's decorators cannot describe a descending column or an expression.
@Index('pets_by_category', { synchronize: false })
@Index('pets_by_name', { synchronize: false })
export class Pet {
  @GeneratedId()
  id!: number;

  @Column('text')
  name!: string;

  /**
   * The id of the pet's category. Null if the pet is deleted. A deleted pet keeps its row, with `deletedAt`, because orders
   * refer to the row. The id of the pet's category is then in `formerCategoryId`, which is no foreign key, so that the
   * category can be deleted.
   */
  @ForeignKey('Category', { name: 'pets_category_fk', onDelete: 'RESTRICT' })
  @Column({ name: 'category_id', type: 'bigint', nullable: true })
  categoryId!: number | null;

  @Column({ name: 'former_category_id', type: 'bigint', nullable: true })
  formerCategoryId!: number | null;

  @Column('text')
  status!: PetStatus;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()', ...WRITTEN_BY_SQL })
  createdAt?: Date;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt!: Date | null;
}
