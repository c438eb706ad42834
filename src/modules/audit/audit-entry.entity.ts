import { Check, Column, Entity, Index } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { ActorKind } from './audit-entry';

/** Has no foreign keys, so that later changes to a client or a key do not affect it. */
@Entity('audit_entries')
@Check('audit_entries_actor_kind_check', `actor_kind IN ('cli', 'key', 'service')`)
@Index('audit_entries_by_time', ['at', 'id'])
@Index('audit_entries_by_client', ['clientName', 'at', 'id'])
@Index('audit_entries_by_key', ['keyId', 'at', 'id'])
@Index('audit_entries_earned_ban_once', ['keyId', 'at'], {
  unique: true,
  where: `action = 'key.banned' AND actor_kind = 'key'`,
})
// Of an expression, and with an operator class: in a migration only.
@Index('audit_entries_by_new_key', { synchronize: false })
@Index('audit_entries_by_action', { synchronize: false })
export class AuditRecord {
  @GeneratedId()
  id!: number;

  @Column('timestamptz')
  at!: Date;

  @Column({ name: 'actor_kind', type: 'text' })
  actorKind!: ActorKind;

  @Column('text')
  actor!: string;

  @Column('text')
  action!: string;

  @Column({ name: 'client_id', type: 'bigint', transformer: int8, nullable: true })
  clientId!: number | null;

  @Column({ name: 'client_name', type: 'text', nullable: true })
  clientName!: string | null;

  @Column({ name: 'key_id', type: 'bigint', transformer: int8, nullable: true })
  keyId!: number | null;

  @Column('jsonb')
  details!: Record<string, unknown>;
}
