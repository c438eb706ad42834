import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
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
      const { identifiers } = await transaction.insert(Client, { name, ...details });
      const clientId = identifiers[0]!.id as number;
      await this.trail.record(transaction, { action: 'client.created', clientId, details });
      return transaction.findOneByOrFail(Client, { id: clientId });
    };
    return this.database.transaction(work, outer).catch((error) => rethrow(error, name));
  }

  list(): Promise<Client[]> {
    return this.clients.find({ order: { id: 'ASC' } });
  }

  exists(name: string, reader: Transaction): Promise<boolean> {
    return reader.existsBy(Client, { name });
  }

  async named(name: string, reader: Transaction = this.clients.manager): Promise<Client> {
    return found(await reader.findOneBy(Client, { name }), name);
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
    const texts = this.dependents.map((dependent) =>
      dependent.describeRemaining(this.clients.manager, client),
    );
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  }

  /** Reads the client and locks it until the end of the transaction, also for those who are adding a key to it. */
  async locked(name: string, transaction: Transaction): Promise<Client> {
    const lock = { mode: 'pessimistic_write' } as const;
    return found(await transaction.findOne(Client, { where: { name }, lock }), name);
  }

  private change(name: string, action: 'client.plan_changed' | 'client.renamed', values: Partial<Client>) {
    return this.database.transaction(async (transaction) => {
      const client = await this.locked(name, transaction);
      const details = changesOf(client, values);
      if (details === undefined) {
        return client;
      }
      await transaction.update(Client, { id: client.id }, values);
      await this.trail.record(transaction, { action, clientId: client.id, details });
      return transaction.findOneByOrFail(Client, { id: client.id });
    });
  }
}

function rethrow(error: unknown, name: string): never {
  throw violates(error, 'clients_name_key')
    ? new OperatorError(`A client named ${name} already exists.`, 'client_exists')
    : error;
}

function found(client: Client | null, name: string): Client {
  if (client === null) {
    throw new OperatorError(`There is no client named ${name}.`, 'client_not_found');
  }
  return client;
}
