import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type Transaction, violates } from '#libs/database';
import { AuditTrail } from '../audit';
import { Client } from './api-key.entity';

type PlanTerms = Pick<Client, 'plan' | 'perMinute' | 'perDay'>;

/** An administrative command cannot be carried out. The message is for the operator, the code for programs. */
export class AdministrationError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Customers, for operators. API callers only see their keys. */
@Injectable()
export class ClientsService {
  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    private readonly database: Database,
    private readonly trail: AuditTrail,
  ) {}

  async create(name: string, { plan, perMinute, perDay }: PlanTerms, outer?: Transaction): Promise<Client> {
    const details = { plan, perMinute, perDay };
    try {
      return await this.database.transaction(async (transaction) => {
        const { identifiers } = await transaction.insert(Client, { name, ...details });
        const clientId = identifiers[0]!.id as number;
        await this.trail.record(transaction, { action: 'client.created', clientId, details });
        return transaction.findOneByOrFail(Client, { id: clientId });
      }, outer);
    } catch (error) {
      throw violates(error, 'clients_name_key')
        ? new AdministrationError(`A client named ${name} already exists.`, 'client_exists')
        : error;
    }
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
    return this.database.transaction(async (transaction) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const client = found(await transaction.findOne(Client, { where: { name }, lock }), name);
      const details = {
        plan: { before: client.plan, after: plan },
        perMinute: { before: client.perMinute, after: perMinute },
        perDay: { before: client.perDay, after: perDay },
      };
      if (Object.values(details).every(({ before, after }) => before === after)) {
        return client;
      }
      await transaction.update(Client, { id: client.id }, { plan, perMinute, perDay });
      await this.trail.record(transaction, { action: 'client.plan_changed', clientId: client.id, details });
      return this.named(name, transaction);
    });
  }
}

function found(client: Client | null, name: string): Client {
  if (client === null) {
    throw new AdministrationError(`There is no client named ${name}.`, 'client_not_found');
  }
  return client;
}
