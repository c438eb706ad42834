import { Column, Entity, PrimaryColumn } from 'typeorm';
import { int8 } from '#libs/database';

/** The requests of a client on one UTC day, minus refunds. */
@Entity('usage_days')
export class UsageDay {
  @PrimaryColumn({ name: 'client_id', type: 'bigint', transformer: int8 })
  clientId!: number;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint', transformer: int8 })
  requests!: number;
}
