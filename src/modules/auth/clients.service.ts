import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOneOptions, IsNull, Repository } from 'typeorm';
import { Database, type Transaction, violates } from '#libs/database';
import { OperatorError } from '../../operator-error';
import { AuditTrail, changesOf } from '../audit';
import { ApiKey, Client } from './api-key.entity';

type PlanTerms = Pick<Client, 'plan' | 'perMinute' | 'perDay'>;

/** What another module has of a client. */
export interface ClientDependent {
  /** Ends it, in the transaction that deletes the client. */
  end(transaction: Transaction, clientId: number): Promise<void>;
  /** What goes on although a key is revoked, in words for the operator. */
  describeRemaining(reader: Transaction, client: { id: number; name: string }): Promise<string | undefined>;
}

/** All that there are; the assembly names them. */
export const CLIENT_DEPENDENTS = Symbol('client dependents');

/** Customers, for operators. API callers only see their keys. */
@Injectable()
export class ClientsService {
  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    private readonly database: Database,
    private readonly trail: AuditTrail,
    @Inject(CLIENT_DEPENDENTS) private readonly dependents: readonly ClientDependent[],
  ) {}

  create(name: string, { plan, perMinute, perDay }: PlanTerms, outer?: Transaction): Promise<Client> {
    const details = { plan, perMinute, perDay };
    const work = async (transaction: Transaction) => {
      const client = await transaction.save(Client, { name, ...details });
      await this.trail.record(transaction, { action: 'client.created', clientId: client.id, details });
      return client;
    };
    return this.database.transaction(work, outer).catch((error) => rethrow(error, name));
  }

  list(): Promise<Client[]> {
    return this.clients.find({ order: { id: 'ASC' } });
  }

  exists(name: string, reader: Transaction): Promise<boolean> {
    return reader.existsBy(Client, { name });
  }

  async named(name: string, reader = this.clients.manager, lock?: FindOneOptions['lock']): Promise<Client> {
    const client = await reader.findOne(Client, { where: { name }, lock });
    if (client === null) {
      throw new OperatorError(`There is no client named ${name}.`, 'client_not_found');
    }
    return client;
  }

  /** Finds the client and locks it until the end of the transaction, also for those who are adding a key to it. */
  locked(name: string, transaction: Transaction): Promise<Client> {
    return this.named(name, transaction, { mode: 'pessimistic_write' });
  }

  /** Applies from the client's next request, on every instance within a second. */
  setPlan(name: string, { plan, perMinute, perDay }: PlanTerms): Promise<Client> {
    return this.change(name, 'client.plan_changed', { plan, perMinute, perDay });
  }

  rename(name: string, newName: string): Promise<Client> {
    return this.change(name, 'client.renamed', { name: newName }).catch((error) => rethrow(error, newName));
  }

  /** Revokes the client's keys on every instance within a second, and frees its name. Its row stays, for its history. */
  remove(name: string): Promise<Client> {
    return this.database.transaction(async (transaction) => {
      const client = await this.locked(name, transaction);
      const active = { clientId: client.id, revokedAt: IsNull() };
      const keys = await transaction.find(ApiKey, {
        select: { id: true },
        where: active,
        order: { id: 'ASC' },
        lock: { mode: 'for_no_key_update' },
      });
      await transaction.update(ApiKey, active, { revokedAt: () => 'now()' });
      for (const dependent of this.dependents) {
        await dependent.end(transaction, client.id);
      }
      await transaction.softDelete(Client, { id: client.id });
      const details = { revokedKeyIds: keys.map(({ id }) => id) };
      await this.trail.record(transaction, { action: 'client.deleted', clientId: client.id, details });
      return client;
    });
  }

  /** What goes on although a key of the client is revoked, in words for the operator. */
  async describeRemaining(client: Client): Promise<string[]> {
    const reader = this.clients.manager;
    const texts = this.dependents.map((dependent) => dependent.describeRemaining(reader, client));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  }

  private change(name: string, action: 'client.plan_changed' | 'client.renamed', values: Partial<Client>) {
    return this.database.transaction(async (transaction) => {
      const client = await this.locked(name, transaction);
      const details = changesOf(client, values);
      if (details !== undefined) {
        await transaction.save(transaction.merge(Client, client, values));
        await this.trail.record(transaction, { action, clientId: client.id, details });
      }
      return client;
    });
  }
}

function rethrow(error: unknown, name: string): never {
  throw violates(error, 'clients_name_key')
    ? new OperatorError(`A client named ${name} already exists.`, 'client_exists')
    : error;
}
