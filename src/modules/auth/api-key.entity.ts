import {
  Check,
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  type Relation,
  Unique,
} from 'typeorm';
import { BYTEWISE_TEXT, GeneratedId } from '#libs/database';

export const SCOPES = ['read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

/** A customer. Quotas knows what a plan allows; `perMinute` and `perDay` are set for plans without fixed limits only. */
@Entity('clients')
@Index('clients_name_key', ['name'], { unique: true, where: 'deleted_at IS NULL' })
@Check('clients_name_check', 'char_length(name) BETWEEN 1 AND 100')
@Check('clients_per_minute_check', 'per_minute >= 1')
@Check('clients_per_day_check', 'per_day >= 1')
export class Client {
  @GeneratedId()
  id!: number;

  @Column({ ...BYTEWISE_TEXT })
  name!: string;

  @Column('text')
  plan!: string;

  @Column({ name: 'per_minute', type: 'int', nullable: true })
  perMinute!: number | null;

  @Column({ name: 'per_day', type: 'int', nullable: true })
  perDay!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;

  /** TypeORM finds no deleted client, unless it is told to. */
  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt!: Date | null;

  /** The last reset of its limits, for the quotas. */
  @Column({ name: 'reset_at', type: 'timestamptz', nullable: true })
  resetAt!: Date | null;
}

/** A key that identifies a client. Only its digest and its last four characters are stored. */
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

  /** What the key is for, in the operator's words. */
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

  /** When the overlap of a rotation ends, and the key with it. Null for a key that was not rotated. */
  @Column({ name: 'overlap_ends_at', type: 'timestamptz', nullable: true })
  overlapEndsAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  /** The last ban, for the quotas. Kept after its end, because the next ban depends on its level. */
  @Column('int', { name: 'ban_level', default: 0 })
  banLevel!: number;

  @Column({ name: 'banned_until', type: 'timestamptz', nullable: true })
  bannedUntil!: Date | null;

  @Column('boolean', { name: 'banned_by_operator', default: false })
  bannedByOperator!: boolean;

  /** Later with each change of the ban. */
  @Column({ name: 'ban_changed_at', type: 'timestamptz', nullable: true })
  banChangedAt!: Date | null;
}
