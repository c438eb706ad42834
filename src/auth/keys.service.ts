import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#libs/database';
import { digestOf, newApiKey } from './api-key-format';
import { ApiKey } from './api-key.entity';
import { type Scope, SCOPES } from './caller';
import { AdministrationError, ClientsService } from './clients.service';

export interface KeyRequest {
  client: string;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
}

/** A key on the one occasion on which it can be read. */
export interface IssuedKey {
  key: string;
  record: ApiKey;
}

/** Keys, for those who run the service. */
@Injectable()
export class KeysService {
  constructor(
    private readonly database: Database,
    private readonly clients: ClientsService,
  ) {}

  async issue(
    { client: clientName, scopes = SCOPES, expiresAt = null }: KeyRequest,
    writer: Transaction = this.database.reader,
  ): Promise<IssuedKey> {
    const client = await this.clients.named(clientName, writer);
    const key = newApiKey();
    const [row] = await writer.query<{ id: string }[]>(
      `INSERT INTO api_keys (client_id, digest, last4, scopes, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
      [client.id, digestOf(key), key.slice(-4), scopes, expiresAt],
    );
    return { key, record: await this.byId(Number(row!.id), writer) };
  }

  async list(clientName?: string): Promise<ApiKey[]> {
    const where = clientName === undefined ? {} : { clientId: (await this.clients.named(clientName)).id };
    return this.database.reader.find(ApiKey, { where, relations: { client: true }, order: { id: 'ASC' } });
  }

  /** Holds on every instance within a second. Revoking twice changes nothing. */
  async revoke(id: number): Promise<ApiKey> {
    await this.byId(id);
    await this.database.query(`UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL`, [
      id,
    ]);
    return this.byId(id);
  }

  /**
   * Issues another key like this one. The old one ends after the overlap, or at its own end if that comes first.
   * @param alongside further work of the same transaction, told the id of the new key
   */
  async rotate(
    id: number,
    overlapMs: number,
    alongside: (transaction: Transaction, newId: number) => Promise<void>,
  ): Promise<IssuedKey> {
    const old = await this.byId(id);
    if (old.revokedAt !== null) {
      throw new AdministrationError(`Key ${id} is revoked; issue a new one instead.`);
    }
    const key = newApiKey();
    const newId = await this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ id: string }[]>(
        `INSERT INTO api_keys (client_id, digest, last4, scopes, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
        [old.clientId, digestOf(key), key.slice(-4), old.scopes, old.expiresAt],
      );
      await transaction.query(
        `UPDATE api_keys SET expires_at = least(expires_at, now() + $2 * interval '1 millisecond') WHERE id = $1`,
        [id, overlapMs],
      );
      await alongside(transaction, Number(row!.id));
      return Number(row!.id);
    });
    return { key, record: await this.byId(newId) };
  }

  /** @throws AdministrationError when there is no such key */
  async byId(id: number, reader: Transaction = this.database.reader): Promise<ApiKey> {
    const key = await reader.findOne(ApiKey, { where: { id }, relations: { client: true } });
    if (!key) {
      throw new AdministrationError(`There is no key ${id}.`);
    }
    return key;
  }
}
