import { Check, Column, Entity, Index, JoinColumn, ManyToOne, type Relation, Unique } from 'typeorm';
import { BYTEWISE_TEXT, GeneratedId } from '#libs/database';
import { Client } from './client.entity';

export const SCOPES = ['read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key. Only a digest and the last four characters are stored, never the key itself. */
@Entity('api_keys')
@Unique(['digest'])
@Index('api_keys_by_client', ['clientId', 'id'])
@Check('api_keys_name_check', 'char_length(name) BETWEEN 1 AND 100')
export class ApiKey {
  @GeneratedId()
  id!: number;

  @Column({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  @ManyToOne(() => Client)
  @JoinColumn({ name: 'client_id' })
  client!: Relation<Client>;

  @Column('text', { nullable: true })
  name!: string | null;

  @Column({ ...BYTEWISE_TEXT })
  digest!: string;

  @Column('text')
  last4!: string;

  @Column('text', { array: true })
  scopes!: Scope[];

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  /** The end of the overlap after a rotation: the old key stops working at this time. Null for a key that was not rotated. */
  @Column({ name: 'overlap_ends_at', type: 'timestamptz', nullable: true })
  overlapEndsAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  /** The level of the last ban. The level is kept after the ban, because the duration of the next ban depends on it. */
  @Column('int', { name: 'ban_level', default: 0 })
  banLevel!: number;

  @Column({ name: 'banned_until', type: 'timestamptz', nullable: true })
  bannedUntil!: Date | null;

  @Column('boolean', { name: 'banned_by_operator', default: false })
  bannedByOperator!: boolean;

  @Column({ name: 'ban_changed_at', type: 'timestamptz', nullable: true })
  banChangedAt!: Date | null;
}
