import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';
import type { ActorKind } from './audit-entry';

/** An entry that a command writes. Entries about clients and keys need their names and are written by AuditTrail's SQL. */
@Entity('audit_entries')
export class StoredEntry {
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

  @Column('jsonb')
  details!: object;
}
