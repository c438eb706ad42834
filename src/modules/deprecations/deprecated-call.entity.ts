import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { int8 } from '#libs/database';

/** The calls of a deprecated operation with one key on one UTC day. */
@Entity('deprecated_calls')
@Index('deprecated_calls_by_day', ['day'])
export class DeprecatedCall {
  @ForeignKey('ApiKey', { onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'key_id', type: 'bigint', transformer: int8 })
  keyId!: number;

  /** The operationId in the OpenAPI document. */
  @PrimaryColumn('text')
  operation!: string;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint', transformer: int8 })
  calls!: number;

  @Column({ name: 'last_call_at', type: 'timestamptz' })
  lastCallAt!: Date;
}
