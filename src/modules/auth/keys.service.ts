import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOneOptions, IsNull, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { OperatorError } from '../../operator-error';
import { AuditTrail, changesOf } from '../audit';
import { digestOf, newApiKey, type Scope, SCOPES } from './api-key';
import { ApiKey } from './api-key.entity';
import { ClientsService } from './clients.service';

/** The id of a key, or the whole key, which may be a leaked one. */
export type KeyReference = number | string;

/** What an operator decides for a key. */
interface KeyTerms {
  /** What it is for. */
  name?: string | null;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
}

/** A new key, in plain text for the only time. */
export interface IssuedKey {
  key: string;
  record: ApiKey;
}

/** A key may be leaked, and its client deleted. */
const WITH_CLIENT = { relations: { client: true }, withDeleted: true };

/** API keys, for operators. Changes apply on every instance within a second. */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly database: Database,
    private readonly clients: ClientsService,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  issue(
    { client: clientName, name = null, scopes = SCOPES, expiresAt = null }: KeyTerms & { client: string },
    outer?: Transaction,
  ): Promise<IssuedKey> {
    return this.database.transaction(async (transaction) => {
      const client = await this.clients.locked(clientName, transaction);
      const terms = { name, scopes: [...scopes], expiresAt };
      const issued = await saveNewKey(transaction, { client, ...terms });
      const entry = { action: 'key.issued', keyId: issued.record.id, details: terms } as const;
      await this.trail.record(transaction, entry);
      return issued;
    }, outer);
  }

  async list(clientName?: string): Promise<ApiKey[]> {
    const client =
      clientName === undefined ? { deletedAt: IsNull() } : { id: (await this.clients.named(clientName)).id };
    // With the deleted, which the condition leaves out: otherwise their keys are found, without a client.
    return this.keys.find({ ...WITH_CLIENT, where: { client }, order: { id: 'ASC' } });
  }

  /** Idempotent. */
  revoke(reference: KeyReference): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.locked(reference, transaction);
      if (key.revokedAt === null) {
        key.revokedAt = new Date(this.clock.now());
        await transaction.save(key);
        await this.trail.record(transaction, { action: 'key.revoked', keyId: key.id });
      }
      return key;
    });
  }

  /** @param terms what is undefined stays as it is */
  update(reference: KeyReference, terms: KeyTerms): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.locked(reference, transaction);
      const { id } = key;
      if (key.revokedAt !== null) {
        throw new OperatorError(`Key ${id} is revoked. Issue a new one instead.`, 'key_revoked');
      }
      if (key.overlapEndsAt !== null && terms.expiresAt !== undefined) {
        const message = `Key ${id} has been rotated, and ends with the overlap. Update the key that replaced it.`;
        throw new OperatorError(message, 'key_rotated');
      }
      const details = changesOf<KeyTerms>(key, terms);
      if (details !== undefined) {
        await transaction.save(transaction.merge(ApiKey, key, terms));
        await this.trail.record(transaction, { action: 'key.updated', keyId: id, details });
      }
      return key;
    });
  }

  /**
   * Issues another key like this one, banned like this one. The old one ends after the overlap, or at its own end if that
   * comes first.
   */
  rotate(reference: KeyReference, overlapMs: number): Promise<IssuedKey> {
    return this.database.transaction(async (transaction) => {
      const old = await this.locked(reference, transaction);
      const now = this.clock.now();
      const state = stateOf(old, now);
      if (state === 'revoked' || state === 'expired') {
        throw new OperatorError(`Key ${old.id} is ${state}. Issue a new one instead.`, `key_${state}`);
      }
      // Its expiry is now the end of the overlap, which must not become that of another new key.
      if (old.overlapEndsAt !== null) {
        const message = `Key ${old.id} has already been rotated. Rotate the key that replaced it, or issue a new one.`;
        throw new OperatorError(message, 'key_rotated');
      }
      const { client, name, scopes, expiresAt: before } = old;
      const { banLevel, bannedUntil, bannedByOperator, banChangedAt } = old;
      const ban = { banLevel, bannedUntil, bannedByOperator, banChangedAt };
      const issued = await saveNewKey(transaction, { client, name, scopes, expiresAt: before, ...ban });
      const after = new Date(Math.min(now + overlapMs, before?.getTime() ?? Infinity));
      await transaction.save(Object.assign(old, { expiresAt: after, overlapEndsAt: after }));
      const [newKeyId, overlapSeconds] = [issued.record.id, overlapMs / 1_000];
      const details = { newKeyId, scopes, overlapSeconds, expiresAt: { before, after } };
      await this.trail.record(transaction, { action: 'key.rotated', keyId: old.id, details });
      return issued;
    });
  }

  /** @throws OperatorError when there is no such key; the message does not contain the key */
  async find(
    reference: KeyReference,
    reader = this.keys.manager,
    lock?: FindOneOptions['lock'],
  ): Promise<ApiKey> {
    const where = typeof reference === 'number' ? { id: reference } : { digest: digestOf(reference) };
    const key = await reader.findOne(ApiKey, { ...WITH_CLIENT, where, lock });
    if (key === null) {
      const message =
        typeof reference === 'number'
          ? `There is no key ${reference}.`
          : `The key that ends with ${reference.slice(-4)} is not one of this store.`;
      throw new OperatorError(message, 'key_not_found');
    }
    return key;
  }

  /** Finds the key and locks it until the end of the transaction. */
  locked(reference: KeyReference, transaction: Transaction): Promise<ApiKey> {
    return this.find(reference, transaction, { mode: 'for_no_key_update', tables: ['api_keys'] });
  }
}

async function saveNewKey(
  transaction: Transaction,
  terms: Pick<ApiKey, 'client' | 'name' | 'scopes' | 'expiresAt'> & Partial<ApiKey>,
): Promise<IssuedKey> {
  const key = newApiKey();
  const identity = { clientId: terms.client.id, digest: digestOf(key), last4: key.slice(-4) };
  return { key, record: await transaction.save(ApiKey, { ...terms, ...identity }) };
}

type KeyState = 'active' | 'banned' | 'expired' | 'revoked';

/** What operators may see of a key, never the key itself. */
export function describeKey(key: ApiKey, now = Date.now()) {
  return {
    id: key.id,
    client: key.client.name,
    name: key.name,
    endsWith: key.last4,
    state: stateOf(key, now),
    scopes: key.scopes,
    createdAt: key.createdAt,
    // What is revoked no longer expires.
    expiresAt: key.revokedAt === null ? key.expiresAt : null,
    lastUsedAt: key.lastUsedAt,
  };
}

function stateOf(key: ApiKey, now: number): KeyState {
  if (key.revokedAt !== null) {
    return 'revoked';
  }
  if (key.expiresAt !== null && key.expiresAt.getTime() <= now) {
    return 'expired';
  }
  return banEndOf(key, now) === null ? 'active' : 'banned';
}

/** When the ban of a key ends; null if it is not banned. */
export function banEndOf({ bannedUntil }: Pick<ApiKey, 'bannedUntil'>, now = Date.now()): Date | null {
  return bannedUntil !== null && now < bannedUntil.getTime() ? bannedUntil : null;
}
