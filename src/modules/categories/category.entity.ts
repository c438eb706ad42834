import { Check, Column, Entity, Index } from 'typeorm';
import { GeneratedId, WRITTEN_BY_SQL } from '#libs/database';

@Entity('categories')
@Check('categories_name_check', 'char_length(name) BETWEEN 1 AND 200')
@Check('categories_description_check', 'char_length(description) <= 2000')
// A migration creates this index on an expression, which TypeORM's decorators cannot describe.
@Index('categories_by_name', { synchronize: false })
export class Category {
  @GeneratedId()
  id!: number;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()', ...WRITTEN_BY_SQL })
  createdAt?: Date;
}
