import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';

/** A customer. Quotas knows what a plan allows; `perMinute` and `perDay` are set for plans without fixed limits only. */
@Entity('clients')
export class Client {
  @GeneratedId()
  id!: number;

  @Column('text')
  name!: string;

  @Column('text')
  plan!: string;

  @Column({ name: 'per_minute', type: 'int', nullable: true })
  perMinute!: number | null;

  @Column({ name: 'per_day', type: 'int', nullable: true })
  perDay!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
