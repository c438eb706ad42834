import { Column, Entity, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import { Client } from './client.entity';
import type { Scope } from './caller';

/** A key that identifies a client. Only its digest and its last four characters are stored. */
@Entity('api_keys')
export class ApiKey {
  @GeneratedId()
  id!: number;

  @Column({ name: 'client_id', type: 'bigint', transformer: int8 })
  clientId!: number;

  @ManyToOne(() => Client)
  @JoinColumn({ name: 'client_id' })
  client!: Relation<Client>;

  @Column('text')
  digest!: string;

  @Column('text')
  last4!: string;

  @Column('text', { array: true })
  scopes!: Scope[];

  @Column({ name: 'created_at', type: 'timestamptz' })
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
}
