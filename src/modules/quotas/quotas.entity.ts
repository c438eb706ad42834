import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Days of usage that are kept, including today. */
export const USAGE_DAYS = 90;

/** The requests of a client on one UTC day, minus refunds. No foreign key: one that is missing after a failover is no failure. */
@Entity('usage_days')
@Index('usage_days_by_day', ['day', 'clientId'])
export class UsageDay {
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  requests!: number;

  /** How many requests were refunded: a day refunds at most as many as its limit. */
  @Column('bigint', { default: 0 })
  refunds!: number;

  /** Requests before a reset, which no longer count against the limit. */
  @Column('bigint', { default: 0 })
  forgiven!: number;

  /** The last minute of the day in which the client was counted. */
  @Column('timestamptz', { name: 'minute_start', default: () => `'epoch'` })
  minuteStart!: Date;

  @Column('int', { name: 'minute_requests', default: 0 })
  minuteRequests!: number;

  @Column('int', { name: 'minute_refunds', default: 0 })
  minuteRefunds!: number;
}
