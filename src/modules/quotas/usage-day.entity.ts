import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

export const USAGE_DAYS = 90;

/** Counts of a client's requests on one UTC day. `Window.refunds` says which requests are refunded. */
@Entity('usage_days')
@Index('usage_days_by_day', ['day', 'clientId'])
export class UsageDay {
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  @PrimaryColumn('date')
  day!: string;

  /** Number of requests on this day, without refunded requests. */
  @Column({ type: 'bigint' })
  requests!: number;

  /** Number of refunded requests on this day. */
  @Column('bigint', { default: 0 })
  refunds!: number;

  /** Number of requests on this day before an operator last reset the client's limits. These requests do not count. */
  @Column('bigint', { default: 0 })
  forgiven!: number;

  /**
   * Start of the last minute in which requests were counted. Such a minute starts with a request, not with a minute of
   * the clock. Null after an operator has reset the client's limits.
   */
  @Column('timestamptz', { name: 'minute_start', nullable: true })
  minuteStart!: Date | null;

  @Column('int', { name: 'minute_requests', default: 0 })
  minuteRequests!: number;

  @Column('int', { name: 'minute_refunds', default: 0 })
  minuteRefunds!: number;
}
