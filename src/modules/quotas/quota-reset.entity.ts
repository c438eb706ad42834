import { Column, Entity, PrimaryColumn } from 'typeorm';
import { int8 } from '#libs/database';

/** The last reset of a client's windows by an operator. */
@Entity('quota_resets')
export class QuotaReset {
  @PrimaryColumn({ name: 'client_id', type: 'bigint', transformer: int8 })
  clientId!: number;

  /** The UTC day of the reset, `YYYY-MM-DD`. */
  @Column('date')
  day!: string;

  /** Requests of that day that no longer count against the limit. */
  @Column({ type: 'bigint', transformer: int8 })
  requests!: number;

  @Column({ name: 'reset_at', type: 'timestamptz' })
  resetAt!: Date;
}
