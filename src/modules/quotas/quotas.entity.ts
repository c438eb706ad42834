import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Days of usage that are kept, including today. */
export const USAGE_DAYS = 90;

/** The requests of a client on one UTC day, minus refunds. */
@Entity('usage_days')
@Index('usage_days_by_day', ['day', 'clientId'])
export class UsageDay {
  @ForeignKey('Client', { onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  requests!: number;

  /** How many requests were refunded: a day refunds at most as many as its limit. */
  @Column({ type: 'bigint', default: 0 })
  refunds!: number;

  /** When the last minute of the day started; null until a version that saves it has counted. */
  @Column({ name: 'minute_start', type: 'timestamptz', nullable: true })
  minuteStart!: Date | null;

  @Column({ name: 'minute_requests', type: 'int', nullable: true })
  minuteRequests!: number | null;

  @Column('int', { name: 'minute_refunds', default: 0 })
  minuteRefunds!: number;
}
