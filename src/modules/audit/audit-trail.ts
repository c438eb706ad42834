import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { Clock } from '#libs/clock';
import {
  Database,
  int8ToNumber,
  type Journal,
  namePrefix,
  type State,
  type Transaction,
} from '#libs/database';
import { Actor, type ActorKind, type AuditEntry, type AuditFilter, type RecordedEntry } from './audit-entry';

interface EntryRow {
  id: string;
  at: Date;
  actor_kind: ActorKind;
  actor: string;
  action: string;
  client_id: string | null;
  client_name: string | null;
  key_id: string | null;
  details: Record<string, unknown>;
}

/** For entries written after the fact: who did it, and when (unix milliseconds). */
export interface Circumstances {
  actor: Actor;
  at: number;
}

/** The client's name is copied, so that the entry stays correct after a rename or a deletion. */
const RECORD = `
  INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, key_id, details)
  SELECT $1, $2, $3, $4, coalesce(subject.client_id, api_keys.client_id), clients.name, subject.key_id, $7
  FROM (SELECT $5::bigint AS client_id, $6::bigint AS key_id) AS subject
  LEFT JOIN api_keys ON api_keys.id = subject.key_id
  LEFT JOIN clients ON clients.id = coalesce(subject.client_id, api_keys.client_id)
  ON CONFLICT (key_id, at) WHERE action = 'key.banned' AND actor_kind = 'key' DO NOTHING`;

interface JournalEntry {
  entry: AuditEntry;
  actor: Actor;
  at: Date;
}

const JOURNAL: Journal<JournalEntry> = {
  write: (entries) => entries.map((one) => ({ statement: { text: RECORD }, values: valuesOf(one) })),
};

const NEWEST = `
  SELECT id, at, actor_kind, actor, action, client_id, client_name, key_id, details FROM audit_entries
  WHERE ($1::text IS NULL OR client_name = $1)
    AND ($2::bigint IS NULL OR key_id = $2 OR (details ->> 'newKeyId')::bigint = $2)
    AND ($3::text IS NULL OR action LIKE $3)
    AND ($4::timestamptz IS NULL OR at >= $4)
  ORDER BY at DESC, id DESC LIMIT $5`;

/** Who did what to which client or key, and when. Append-only. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly actor: Actor,
  ) {}

  /**
   * Writes an entry in the transaction of the change, or of the command that decides on the state. Recording the same
   * earned ban twice has no effect.
   * @param circumstances default: this process, now
   */
  async record(
    to: Transaction | State,
    entry: AuditEntry,
    circumstances: Circumstances = { actor: this.actor, at: this.clock.now() },
  ): Promise<void> {
    const { actor, at } = circumstances;
    const recorded = { entry, actor, at: new Date(at) };
    if ('append' in to) {
      to.append(JOURNAL, recorded);
    } else {
      await to.query(RECORD, valuesOf(recorded));
    }
  }

  /** The newest entries first. */
  async newest({ client, keyId, actionPrefix, since, limit }: AuditFilter): Promise<RecordedEntry[]> {
    const rows = await this.database.query<EntryRow>(NEWEST, [
      client ?? null,
      keyId ?? null,
      actionPrefix === undefined ? null : namePrefix(actionPrefix),
      since?.toISOString() ?? null,
      limit,
    ]);
    return rows.map(toEntry);
  }
}

function valuesOf({ entry, actor, at }: JournalEntry): unknown[] {
  const { reason } = actor;
  return [
    at.toISOString(),
    actor.kind,
    actor.name,
    entry.action,
    'clientId' in entry ? entry.clientId : null,
    'keyId' in entry ? entry.keyId : null,
    JSON.stringify(reason === undefined ? entry.details : { ...entry.details, reason }),
  ];
}

function toEntry(row: EntryRow): RecordedEntry {
  return {
    id: int8ToNumber(row.id),
    at: row.at,
    actor: { kind: row.actor_kind, name: row.actor },
    action: row.action,
    clientId: row.client_id === null ? null : int8ToNumber(row.client_id),
    clientName: row.client_name,
    keyId: row.key_id === null ? null : int8ToNumber(row.key_id),
    details: row.details,
  };
}

/** The audit log, for the service and the command line alike. */
@Module({})
export class AuditModule {
  /** @param actor the author of all changes made by this application */
  static forRoot(actor: Actor): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      providers: [AuditTrail, { provide: Actor, useValue: actor }],
      exports: [Actor, AuditTrail],
    };
  }
}
