import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOneOptions, IsNull, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Need, type State, type Transaction, violates } from '#libs/database';
import { OperatorError, suggestionFor } from '#libs/messages';
import type { ClientDependent } from '../../feature';
import { AuditTrail, beforeAndAfter } from '../audit';
import { digestOf, newApiKey, stateOf } from './api-key';
import { ApiKey, type Scope, SCOPES } from './api-key.entity';
import { Client } from './client.entity';

type PlanTerms = Pick<Client, 'plan'> & Partial<Pick<Client, 'perMinute' | 'perDay'>>;

/**
 * Injection token for the features that keep rows of a client, such as webhooks. When a client is deleted, each of
 * these features deletes its rows of the client.
 */
export const CLIENT_DEPENDENTS = Symbol('client dependents');

/** The id of a key, or the key itself, because an operator who has found a leaked key may not know its id. */
export type KeyReference = number | string;

interface KeyTerms {
  name?: string | null;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
}

export interface IssuedKey {
  key: string;
  record: ApiKey;
}

/** Load the client of each key, even a deleted client, because an operator may look up a leaked key of a deleted client. */
const WITH_CLIENT = { relations: { client: true }, withDeleted: true };

/** Creates and changes clients and keys, for operators. Every instance applies a change within a second. */
@Injectable()
export class ClientsService {
  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
    @Inject(CLIENT_DEPENDENTS) private readonly dependents: readonly ClientDependent[],
  ) {}

  create(name: string, { plan, perMinute = null, perDay = null }: PlanTerms): Promise<Client> {
    const details = { plan, perMinute, perDay };
    const work = async (transaction: Transaction) => {
      const client = await transaction.save(Client, { name, ...details });
      await this.trail.record(transaction, { action: 'client.created', clientId: client.id, details });
      return client;
    };
    return this.database.transaction(work).catch((error) => rethrow(error, name));
  }

  list(): Promise<Client[]> {
    return this.clients.find({ order: { id: 'ASC' } });
  }

  exists(name: string): Promise<boolean> {
    return this.clients.existsBy({ name });
  }

  /** Finds a client by its name or, if no client has this name, by its id. */
  async get(name: string, reader = this.clients.manager, lock?: FindOneOptions['lock']): Promise<Client> {
    let client = await reader.findOne(Client, { where: { name }, lock });
    if (client === null && /^\d{1,15}$/.test(name)) {
      client = await reader.findOne(Client, { where: { id: Number(name) }, lock });
    }
    if (client === null) {
      const names = (await reader.find(Client, { select: { name: true } })).map((one) => one.name);
      const message = `There is no client named ${name}.${suggestionFor(name, names)}`;
      throw new OperatorError(message, 'client_not_found');
    }
    return client;
  }

  /**
   * Finds a client and locks its row until the end of the transaction, so that no other transaction adds a key to the
   * client meanwhile.
   */
  private lock(name: string, transaction: Transaction): Promise<Client> {
    return this.get(name, transaction, { mode: 'pessimistic_write' });
  }

  setPlan(name: string, { plan, perMinute = null, perDay = null }: PlanTerms): Promise<Client> {
    return this.change(name, 'client.plan_changed', { plan, perMinute, perDay });
  }

  rename(name: string, newName: string): Promise<Client> {
    return this.change(name, 'client.renamed', { name: newName }).catch((error) => rethrow(error, newName));
  }

  /**
   * Deletes a client and revokes its keys. The client's row is only marked as deleted, because the rows of its keys
   * refer to this row.
   */
  remove(name: string): Promise<Client> {
    return this.database.transaction(async (transaction) => {
      const client = await this.lock(name, transaction);
      const active = { clientId: client.id, revokedAt: IsNull() };
      const keys = await transaction.find(ApiKey, {
        select: { id: true },
        where: active,
        order: { id: 'ASC' },
        lock: { mode: 'for_no_key_update' },
      });
      await transaction.update(ApiKey, active, { revokedAt: () => 'now()' });
      for (const dependent of this.dependents) {
        await dependent.deleteRowsOf(transaction, client.id);
      }
      await transaction.softDelete(Client, { id: client.id });
      const details = { revokedKeyIds: keys.map(({ id }) => id) };
      await this.trail.record(transaction, { action: 'client.deleted', clientId: client.id, details });
      return client;
    });
  }

  async describeRemaining(client: Client): Promise<string[]> {
    const reader = this.clients.manager;
    const texts = this.dependents.map((dependent) => dependent.describeRemaining(reader, client));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  }

  issueKey({
    client: clientName,
    name = null,
    scopes = SCOPES,
    expiresAt = null,
  }: KeyTerms & { client: string }): Promise<IssuedKey> {
    return this.database.transaction(async (transaction) => {
      const client = await this.lock(clientName, transaction);
      const terms = { name, scopes: [...scopes], expiresAt };
      const issued = await saveNewKey(transaction, { client, ...terms });
      const entry = { action: 'key.issued', keyId: issued.record.id, details: terms } as const;
      await this.trail.record(transaction, entry);
      return issued;
    });
  }

  async listKeys(clientName?: string): Promise<ApiKey[]> {
    const client =
      clientName === undefined ? { deletedAt: IsNull() } : { id: (await this.get(clientName)).id };
    return this.keys.find({ ...WITH_CLIENT, where: { client }, order: { id: 'ASC' } });
  }

  revokeKey(reference: KeyReference): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.lockKey(reference, transaction);
      if (key.revokedAt === null) {
        key.revokedAt = new Date(this.clock.now());
        await transaction.save(key);
        await this.trail.record(transaction, { action: 'key.revoked', keyId: key.id });
      }
      return key;
    });
  }

  /**
   * Changes the name, the scopes or the expiry of a key.
   * @param terms the new values; if a value is undefined, the present value stays
   */
  updateKey(reference: KeyReference, terms: KeyTerms): Promise<ApiKey> {
    return this.database.transaction(async (transaction) => {
      const key = await this.lockKey(reference, transaction);
      const { id } = key;
      if (key.revokedAt !== null) {
        throw new OperatorError(`Key ${id} is revoked. Issue a new one instead.`, 'key_revoked');
      }
      if (key.overlapEndsAt !== null && terms.expiresAt !== undefined) {
        const message = `Key ${id} has been rotated: it expires when the overlap of the rotation ends. Update the key that replaced it.`;
        throw new OperatorError(message, 'key_rotated');
      }
      const details = beforeAndAfter<KeyTerms>(key, terms);
      if (details !== undefined) {
        await transaction.save(transaction.merge(ApiKey, key, terms));
        await this.trail.record(transaction, { action: 'key.updated', keyId: id, details });
      }
      return key;
    });
  }

  /**
   * Issues a new key with the name, scopes, expiry and ban of the old key. The old key works until the end of the
   * overlap, or until its expiry if that is sooner.
   */
  rotateKey(reference: KeyReference, overlapMs: number): Promise<IssuedKey & { replaced: ApiKey }> {
    return this.database.transaction(async (transaction) => {
      const old = await this.lockKey(reference, transaction);
      const now = this.clock.now();
      const state = stateOf(old, now);
      if (state === 'revoked' || state === 'expired') {
        throw new OperatorError(`Key ${old.id} is ${state}. Issue a new one instead.`, `key_${state}`);
      }
      // Refuse to rotate a key twice, because a new key inherits the expiry of the old key. The first rotation moves this
      // expiry to the end of the overlap, so a second new key would expire then, too.
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
      return { ...issued, replaced: old };
    });
  }

  /**
   * Returns a map from the id of each rotated key to the id of the key that replaced it. The map is read from the audit
   * log, because no other table records which key replaced which.
   */
  async rotations(): Promise<Map<number, number>> {
    const entries = await this.trail.entriesOf('key.rotated');
    return new Map(entries.map(({ keyId, details }) => [keyId!, details.newKeyId as number]));
  }

  /** @throws OperatorError if there is no such key; the message does not contain the key, which is secret */
  async findKey(
    reference: KeyReference,
    reader = this.clients.manager,
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

  lockKey(reference: KeyReference, transaction: Transaction): Promise<ApiKey> {
    return this.findKey(reference, transaction, { mode: 'for_no_key_update', tables: ['api_keys'] });
  }

  private change(name: string, action: 'client.plan_changed' | 'client.renamed', values: Partial<Client>) {
    return this.database.transaction(async (transaction) => {
      const client = await this.lock(name, transaction);
      const details = beforeAndAfter(client, values);
      if (details !== undefined) {
        await transaction.save(transaction.merge(Client, client, values));
        await this.trail.record(transaction, { action, clientId: client.id, details });
      }
      return client;
    });
  }
}

export const ClientRows = {
  /** Locks a client's row, so that no other command changes the number of its webhooks. */
  needOf: (id: number): Need => ({ entity: Client, id, lock: 'FOR NO KEY UPDATE' }),

  exists: (state: State, id: number): boolean => state.find(Client, id)?.deletedAt === null,
};

function rethrow(error: unknown, name: string): never {
  throw violates(error, 'clients_name_key')
    ? new OperatorError(`A client named ${name} already exists.`, 'client_exists')
    : error;
}

async function saveNewKey(
  transaction: Transaction,
  terms: Pick<ApiKey, 'client' | 'name' | 'scopes' | 'expiresAt'> & Partial<ApiKey>,
): Promise<IssuedKey> {
  const key = newApiKey();
  const identity = { clientId: terms.client.id, digest: digestOf(key), last4: key.slice(-4) };
  return { key, record: await transaction.save(ApiKey, { ...terms, ...identity }) };
}
