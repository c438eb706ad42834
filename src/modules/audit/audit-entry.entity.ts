import { Check, Column, Entity, Index } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';

export type ActorKind = 'cli' | 'key' | 'service';

/** Who is recorded as the author of changes: the person at the command line, or the running service. */
export abstract class Actor {
  abstract readonly kind: ActorKind;
  abstract readonly name: string;
}

export interface Change<Value> {
  before: Value;
  after: Value;
}

export interface PlanTerms {
  plan: string;
  perMinute: number | null;
  perDay: number | null;
}

interface OfClient {
  clientId: number;
}

interface OfKey {
  keyId: number;
}

/** Times are RFC 3339. Keys are identified by id only; no other part of a key may appear here. */
export type AuditEntry =
  | (OfClient & { action: 'client.created'; details: PlanTerms })
  | (OfClient & {
      action: 'client.plan_changed';
      details: { [Term in keyof PlanTerms]: Change<PlanTerms[Term]> };
    })
  | (OfKey & {
      action: 'key.issued';
      details: { name: string | null; scopes: readonly string[]; expiresAt: string | null };
    })
  | (OfKey & {
      /** The entry of the old key; the new one has the same scopes. */
      action: 'key.rotated';
      details: {
        newKeyId: number;
        scopes: readonly string[];
        overlapSeconds: number;
        expiresAt: Change<string | null>;
      };
    })
  | (OfKey & { action: 'key.revoked'; details: Record<string, never> })
  | (OfKey & { action: 'key.banned'; details: { level: number; bannedUntil: string } })
  | (OfKey & { action: 'key.unbanned'; details: { level: Change<number>; bannedUntil: Change<string> } })
  | (OfClient & { action: 'webhook.enabled'; details: { webhookId: number } })
  | (OfClient & { action: 'webhook.disabled'; details: { webhookId: number; reason: string } })
  | (OfClient & { action: 'webhook.deliveries_retried'; details: { webhookId: number; deliveries: number } })
  | (OfClient & { action: 'quota.reset'; details: Record<string, never> })
  | { action: 'catalogue.imported'; details: { categories: number; pets: number; linesLeftOut: number } };

/** Has no foreign keys, so that later changes to a client or a key do not affect it. */
@Entity('audit_entries')
@Check('audit_entries_actor_kind_check', `actor_kind IN ('cli', 'key', 'service')`)
@Index('audit_entries_by_time', ['at', 'id'])
@Index('audit_entries_earned_ban_once', ['keyId', 'at'], {
  unique: true,
  where: `action = 'key.banned' AND actor_kind = 'key'`,
})
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
