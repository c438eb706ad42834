import { Injectable } from '@nestjs/common';
import { Database, type Transaction, violatesUnique } from '#libs/database';
import { Client } from './client.entity';

export interface PlanChoice {
  plan: string;
  perMinute: number | null;
  perDay: number | null;
}

/** A command on clients or keys asks for something that cannot be; the message is for whoever runs it. */
export class AdministrationError extends Error {}

/** Customers, for those who run the service. Callers of the HTTP interface only ever meet their keys. */
@Injectable()
export class ClientsService {
  constructor(private readonly database: Database) {}

  async create(
    name: string,
    choice: PlanChoice,
    writer: Transaction = this.database.reader,
  ): Promise<Client> {
    try {
      const [row] = await writer.query<{ id: string }[]>(
        `INSERT INTO clients (name, plan, per_minute, per_day) VALUES ($1, $2, $3, $4) RETURNING id`,
        [name, choice.plan, choice.perMinute, choice.perDay],
      );
      return await writer.findOneByOrFail(Client, { id: Number(row!.id) });
    } catch (error) {
      if (violatesUnique(error, 'clients_name_key')) {
        throw new AdministrationError(`There is a client named ${name} already.`);
      }
      throw error;
    }
  }

  list(): Promise<Client[]> {
    return this.database.reader.find(Client, { order: { id: 'ASC' } });
  }

  async named(name: string, reader: Transaction = this.database.reader): Promise<Client> {
    const client = await reader.findOneBy(Client, { name });
    if (!client) {
      throw new AdministrationError(`There is no client named ${name}.`);
    }
    return client;
  }

  /** Holds at the client's next request, on every instance within a second. */
  async setPlan(name: string, choice: PlanChoice): Promise<Client> {
    const { id } = await this.named(name);
    await this.database.reader.update(Client, { id }, choice);
    return this.named(name);
  }
}
