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

interface KeyRequest {
  client: string;
  /** What the key is for. */
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

/** API keys, for operators. */
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
    { client: clientName, name = null, scopes = SCOPES, expiresAt = null }: KeyRequest,
    outer?: Transaction,
  ): Promise<IssuedKey> {
    return this.database.transaction(async (transaction) => {
      const client = await this.clients.locked(clientName, transaction);
      const issued = await this.insert(transaction, {
        clientId: client.id,
        name,
        scopes: [...scopes],
        expiresAt,
      });
      await this.trail.record(transaction, {
        action: 'key.issued',
        keyId: issued.record.id,
        details: { name, scopes, expiresAt },
      });
      return issued;
    }, outer);
  }

  async list(clientName?: string): Promise<ApiKey[]> {
    const client =
      clientName === undefined ? { deletedAt: IsNull() } : { id: (await this.clients.named(clientName)).id };
    // With the deleted, which the condition leaves out: otherwise their keys are found, without a client.
    return this.keys.find({ ...WITH_CLIENT, where: { client }, order: { id: 'ASC' } });
  }

  /** Applies on every instance within a second. Idempotent. */
  revoke(id: number): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.locked(transaction, id);
      if (key.revokedAt !== null) {
        return key;
      }
      await transaction.update(ApiKey, { id }, { revokedAt: () => 'now()' });
      await this.trail.record(transaction, { action: 'key.revoked', keyId: id });
      return this.byId(id, transaction);
    });
  }

  /**
   * Applies on every instance within a second.
   * @param values what is undefined stays as it is
   */
  update(id: number, values: Partial<Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>>): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.locked(transaction, id);
      if (key.revokedAt !== null) {
        throw new OperatorError(`Key ${id} is revoked. Issue a new one instead.`, 'key_revoked');
      }
      if (key.overlapEndsAt !== null && values.expiresAt !== undefined) {
        const message = `Key ${id} has been rotated, and ends with the overlap. Update the key that replaced it.`;
        throw new OperatorError(message, 'key_rotated');
      }
      const details = changesOf<Partial<ApiKey>>(key, values);
      if (details === undefined) {
        return key;
      }
      await transaction.update(ApiKey, { id }, values);
      await this.trail.record(transaction, { action: 'key.updated', keyId: id, details });
      return this.byId(id, transaction);
    });
  }

  /**
   * Issues another key like this one, banned like this one. The old one ends after the overlap, or at its own end if that
   * comes first.
   */
  rotate(id: number, overlapMs: number): Promise<IssuedKey> {
    return this.database.transaction(async (transaction) => {
      const old = await this.locked(transaction, id);
      const now = this.clock.now();
      const state = stateOf(old, now);
      if (state === 'revoked' || state === 'expired') {
        throw new OperatorError(`Key ${id} is ${state}. Issue a new one instead.`, `key_${state}`);
      }
      // Its expiry is now the end of the overlap, which must not become that of another new key.
      if (old.overlapEndsAt !== null) {
        throw new OperatorError(
          `Key ${id} has already been rotated. Rotate the key that replaced it, or issue a new one.`,
          'key_rotated',
        );
      }
      const { clientId, name, scopes, banLevel, bannedUntil, bannedByOperator, banChangedAt } = old;
      const ban = { banLevel, bannedUntil, bannedByOperator, banChangedAt };
      const terms = { clientId, name, scopes, expiresAt: old.expiresAt, ...ban };
      const issued = await this.insert(transaction, terms);
      const expiresAt = new Date(Math.min(now + overlapMs, old.expiresAt?.getTime() ?? Infinity));
      await transaction.update(ApiKey, { id }, { expiresAt, overlapEndsAt: expiresAt });
      await this.trail.record(transaction, {
        action: 'key.rotated',
        keyId: id,
        details: {
          newKeyId: issued.record.id,
          scopes: old.scopes,
          overlapSeconds: overlapMs / 1_000,
          expiresAt: { before: old.expiresAt, after: expiresAt },
        },
      });
      return issued;
    });
  }

  /** @throws OperatorError when there is no such key */
  async byId(id: number, reader = this.keys.manager, lock?: FindOneOptions['lock']): Promise<ApiKey> {
    const key = await reader.findOne(ApiKey, { ...WITH_CLIENT, where: { id }, lock });
    if (!key) {
      throw new OperatorError(`There is no key ${id}.`, 'key_not_found');
    }
    return key;
  }

  /**
   * Finds a key by its id, or by the whole key, for instance a leaked one.
   * @throws OperatorError when there is no such key; the message does not contain the key
   */
  async byReference(reference: number | string): Promise<ApiKey> {
    if (typeof reference === 'number') {
      return this.byId(reference);
    }
    const key = await this.keys.findOne({ ...WITH_CLIENT, where: { digest: digestOf(reference) } });
    if (!key) {
      const end = reference.slice(-4);
      throw new OperatorError(`The key that ends with ${end} is not one of this store.`, 'key_not_found');
    }
    return key;
  }

  /** Reads the key and locks it until the end of the transaction. */
  locked(transaction: Transaction, id: number): Promise<ApiKey> {
    return this.byId(id, transaction, { mode: 'for_no_key_update', tables: ['api_keys'] });
  }

  private async insert(transaction: Transaction, terms: Partial<Omit<ApiKey, 'client'>>): Promise<IssuedKey> {
    const key = newApiKey();
    const stored = { ...terms, digest: digestOf(key), last4: key.slice(-4) };
    const { identifiers } = await transaction.insert(ApiKey, stored);
    return { key, record: await this.byId(identifiers[0]!.id as number, transaction) };
  }
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
