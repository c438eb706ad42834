import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BYTEWISE_TEXT } from '#libs/database';

@Entity('idempotency_records')
@Index('idempotency_records_by_age', ['createdAt'])
export class IdempotencyRecord {
  /**
   * The client's id, a space, and the idempotency key. Both together identify a stored response, because two clients
   * may use the same idempotency key.
   */
  @PrimaryColumn({ ...BYTEWISE_TEXT })
  name!: string;

  /** A digest of the request. A later request with the same idempotency key is refused if its digest differs. */
  @Column('text')
  fingerprint!: string;

  @Column('int')
  status!: number;

  @Column('text')
  body!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}
