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
