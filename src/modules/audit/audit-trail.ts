import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Check, Column, Entity, Index, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { GeneratedId, type Transaction } from '#libs/database';

type ActorKind = 'cli' | 'key' | 'service';

/** Who made a change: the operator at the command line, an API key, or the service itself. */
export abstract class Actor {
  abstract readonly kind: ActorKind;
  abstract readonly name: string;
}

type Action = `${string}.${string}`;

interface AuditEntry {
  action: Action;
  clientId?: number;
  keyId?: number;
  /** The details must not contain an API key or a part of one. Refer to an API key by its id. */
  details?: object;
}

/**
 * Returns each changed property with its value before and after the change, for the details of an audit entry. Returns
 * undefined if nothing has changed.
 */
export function beforeAndAfter<Subject extends object>(subject: Subject, values: Partial<Subject>) {
  const changes = Object.entries(values)
    .map(([name, after]) => [name, { before: subject[name as keyof Subject], after }] as const)
    .filter(([, { before, after }]) => after !== undefined && !isDeepStrictEqual(before, after));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** An entry of the audit log. The table has no foreign keys, so an entry survives the deletion of its client. */
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

/** Who made a change and when (unix milliseconds), for an entry that is written later than the change. */
interface Circumstances {
  actor: Actor;
  at: number;
}

/** Inserts an entry with the present name of the client, because the client may later be renamed or deleted. */
const RECORD = `
  INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, key_id, details)
  SELECT $1, $2, $3, $4, coalesce(subject.client_id, api_keys.client_id), clients.name, subject.key_id, $7
  FROM (SELECT $5::bigint AS client_id, $6::bigint AS key_id) AS subject
  LEFT JOIN api_keys ON api_keys.id = subject.key_id
  LEFT JOIN clients ON clients.id = coalesce(subject.client_id, api_keys.client_id)`;

/** The audit log: who changed which client or key, and when. Entries are never changed or deleted. */
@Injectable()
export class AuditTrail {
  constructor(
    @InjectRepository(AuditRecord) private readonly entries: Repository<AuditRecord>,
    private readonly clock: Clock,
    private readonly actor: Actor,
  ) {}

  /**
   * Returns entries, newest first.
   * @param client the id, the present name or a former name of a client. If given, only entries about this client are
   * returned, including entries from times when the client had another name. If several clients have had the name, one
   * after the other, the entries about all of them are returned.
   */
  newest(limit: number, client?: string): Promise<AuditRecord[]> {
    const query = this.entries
      .createQueryBuilder('entry')
      .orderBy({ 'entry.at': 'DESC', 'entry.id': 'DESC' })
      .limit(limit);
    if (client !== undefined) {
      const named = ':client IN (client_name, client_id::text)';
      query.where(`client_id IN (SELECT client_id FROM audit_entries WHERE ${named})`, { client });
    }
    return query.getMany();
  }

  entriesOf(action: Action): Promise<AuditRecord[]> {
    return this.entries.findBy({ action });
  }

  /**
   * Writes an entry in the transaction of the change. Either both the change and the entry are saved, or neither is.
   */
  async record(transaction: Transaction, entry: AuditEntry, circumstances?: Circumstances): Promise<void> {
    const { text, values } = this.recordOf(entry, circumstances);
    await transaction.query(text, values);
  }

  /** Returns the statement that writes an entry. The statement must run in the transaction of the change. */
  recordOf(
    entry: AuditEntry,
    { actor, at }: Circumstances = { actor: this.actor, at: this.clock.now() },
  ): { text: string; values: unknown[] } {
    const { action, clientId = null, keyId = null, details = {} } = entry;
    const time = new Date(at).toISOString();
    const values = [time, actor.kind, actor.name, action, clientId, keyId, JSON.stringify(details)];
    return { text: RECORD, values };
  }
}
