import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';

@Entity('categories')
export class Category {
  @GeneratedId()
  id!: number;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;
}
