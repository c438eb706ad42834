import { Column, Entity, PrimaryColumn } from 'typeorm';
import { int8 } from '#libs/database';
import type { StoredBan } from './rules/ban-rules';

/** The last ban of a key. Kept after its end, because the next ban depends on its level. */
@Entity('key_bans')
export class KeyBan {
  @PrimaryColumn({ name: 'key_id', type: 'bigint', transformer: int8 })
  keyId!: number;

  @Column('int')
  level!: number;

  @Column({ name: 'banned_until', type: 'timestamptz' })
  bannedUntil!: Date;

  @Column('boolean', { name: 'by_operator' })
  byOperator!: boolean;
}

export function toStoredBan({ level, bannedUntil, byOperator }: KeyBan): StoredBan {
  return { level, bannedUntil: bannedUntil.getTime(), byOperator };
}

/** Days of usage that are kept, including today. */
export const USAGE_DAYS = 90;

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
