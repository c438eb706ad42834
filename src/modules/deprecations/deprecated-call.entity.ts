import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BYTEWISE_TEXT } from '#libs/database';

/** Number of calls of a deprecated operation with one API key on one UTC day. */
@Entity('deprecated_calls')
@Index('deprecated_calls_by_day', ['day'])
export class DeprecatedCall {
  @PrimaryColumn({ name: 'key_id', type: 'bigint' })
  keyId!: number;

  @PrimaryColumn({ ...BYTEWISE_TEXT })
  operation!: string;

  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  calls!: number;

  @Column({ name: 'last_call_at', type: 'timestamptz' })
  lastCallAt!: Date;
}
