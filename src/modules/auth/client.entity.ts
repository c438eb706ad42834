import { Check, Column, DeleteDateColumn, Entity, Index } from 'typeorm';
import { BYTEWISE_TEXT, GeneratedId } from '#libs/database';

/** An application that uses the API. `perMinute` and `perDay` are null if the plan has fixed limits. */
@Entity('clients')
@Index('clients_name_key', ['name'], { unique: true, where: 'deleted_at IS NULL' })
@Check('clients_name_check', 'char_length(name) BETWEEN 1 AND 100')
@Check('clients_per_minute_check', 'per_minute >= 1')
@Check('clients_per_day_check', 'per_day >= 1')
export class Client {
  @GeneratedId()
  id!: number;

  @Column({ ...BYTEWISE_TEXT })
  name!: string;

  @Column('text')
  plan!: string;

  @Column({ name: 'per_minute', type: 'int', nullable: true })
  perMinute!: number | null;

  @Column({ name: 'per_day', type: 'int', nullable: true })
  perDay!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt!: Date | null;

  /** When an operator last reset the client's limits. Requests before this time do not count. */
  @Column({ name: 'reset_at', type: 'timestamptz', nullable: true })
  resetAt!: Date | null;
}
