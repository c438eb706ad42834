import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { type Journal, namePrefix, type State, type Transaction } from '#libs/database';
import {
  Actor,
  type AuditEntry,
  type AuditFilter,
  AuditRecord,
  type RecordedEntry,
} from './audit-entry.entity';

/** For entries written after the fact: who did it, and when (unix milliseconds). */
export interface Circumstances {
  actor: Actor;
  at: number;
}

/**
 * The client's name is copied, so that the entry stays correct after a rename or a deletion. SQL, because it is also a
 * statement of commands, and finds the client of a key in the same round trip.
 */
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

/** Who did what to which client or key, and when. Append-only. */
@Injectable()
export class AuditTrail {
  constructor(
    @InjectRepository(AuditRecord) private readonly records: Repository<AuditRecord>,
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
    const found = this.records.createQueryBuilder('entry');
    if (client !== undefined) {
      found.andWhere('entry.clientName = :client', { client });
    }
    if (keyId !== undefined) {
      found.andWhere(`(entry.keyId = :keyId OR (entry.details ->> 'newKeyId')::bigint = :keyId)`, { keyId });
    }
    if (actionPrefix !== undefined) {
      found.andWhere('entry.action LIKE :prefix', { prefix: namePrefix(actionPrefix) });
    }
    if (since !== undefined) {
      found.andWhere('entry.at >= :since', { since });
    }
    const rows = await found
      .orderBy('entry.at', 'DESC')
      .addOrderBy('entry.id', 'DESC')
      .limit(limit)
      .getMany();
    return rows.map(({ actorKind, actor, ...entry }) => ({
      ...entry,
      actor: { kind: actorKind, name: actor },
    }));
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

/** The audit log, for the service and the command line alike. */
@Module({})
export class AuditModule {
  /** @param actor the author of all changes made by this application */
  static forRoot(actor: Actor): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      imports: [TypeOrmModule.forFeature([AuditRecord])],
      providers: [AuditTrail, { provide: Actor, useValue: actor }],
      exports: [Actor, AuditTrail],
    };
  }
}
