import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Check, Column, Entity, Index, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { GeneratedId, type Transaction } from '#libs/database';

type ActorKind = 'cli' | 'key' | 'service';

/** Who is recorded as the author of changes: the person at the command line, or the running service. */
export abstract class Actor {
  abstract readonly kind: ActorKind;
  abstract readonly name: string;
}

/** `key.revoked`: what it was done to, and what. */
type Action = `${string}.${string}`;

/** What was done to which client or key, if any. */
interface AuditEntry {
  action: Action;
  clientId?: number;
  keyId?: number;
  /** Times are RFC 3339. Keys are identified by id only; no other part of a key may appear here. */
  details?: object;
}

/** What new values change of a subject, for the details of an entry; undefined if they change nothing. */
export function changesOf<Subject extends object>(subject: Subject, values: Partial<Subject>) {
  const changes = Object.entries(values)
    .map(([name, after]) => [name, { before: subject[name as keyof Subject], after }] as const)
    .filter(([, { before, after }]) => after !== undefined && !isDeepStrictEqual(before, after));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** An entry of the audit log. Has no foreign keys, so that later changes to a client or a key do not affect it. */
@Entity('audit_entries')
@Check('audit_entries_actor_kind_check', `actor_kind IN ('cli', 'key', 'service')`)
@Index('audit_entries_by_time', ['at', 'id'])
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

  @Column({ name: 'client_id', type: 'bigint', nullable: true })
  clientId!: number | null;

  @Column({ name: 'client_name', type: 'text', nullable: true })
  clientName!: string | null;

  @Column({ name: 'key_id', type: 'bigint', nullable: true })
  keyId!: number | null;

  @Column('jsonb')
  details!: Record<string, unknown>;
}

/** For entries written after the fact: who did it, and when (unix milliseconds). */
interface Circumstances {
  actor: Actor;
  at: number;
}

/**
 * The client's name is copied, so that the entry stays correct after a rename or a deletion. SQL, because it
 * finds the client of a key in the same round trip.
 */
const RECORD = `
  INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, key_id, details)
  SELECT $1, $2, $3, $4, coalesce(subject.client_id, api_keys.client_id), clients.name, subject.key_id, $7
  FROM (SELECT $5::bigint AS client_id, $6::bigint AS key_id) AS subject
  LEFT JOIN api_keys ON api_keys.id = subject.key_id
  LEFT JOIN clients ON clients.id = coalesce(subject.client_id, api_keys.client_id)`;

/** Who did what to which client or key, and when. Append-only. */
@Injectable()
export class AuditTrail {
  constructor(
    @InjectRepository(AuditRecord) private readonly entries: Repository<AuditRecord>,
    private readonly clock: Clock,
    private readonly actor: Actor,
  ) {}

  /**
   * The newest entries first.
   * @param clientName of the clients that have or had this name, under any name
   */
  newest(limit: number, clientName?: string): Promise<AuditRecord[]> {
    const query = this.entries
      .createQueryBuilder('entry')
      .orderBy({ 'entry.at': 'DESC', 'entry.id': 'DESC' })
      .limit(limit);
    if (clientName !== undefined) {
      query.where('client_id IN (SELECT client_id FROM audit_entries WHERE client_name = :clientName)', {
        clientName,
      });
    }
    return query.getMany();
  }

  /** Writes an entry in the transaction of the change. By default this process is the author, now. */
  async record(
    transaction: Transaction,
    entry: AuditEntry,
    circumstances: Circumstances = { actor: this.actor, at: this.clock.now() },
  ): Promise<void> {
    const { actor, at } = circumstances;
    const { action, clientId = null, keyId = null, details = {} } = entry;
    const time = new Date(at).toISOString();
    const values = [time, actor.kind, actor.name, action, clientId, keyId, JSON.stringify(details)];
    await transaction.query(RECORD, values);
  }
}
