import { hash } from 'node:crypto';
import type { Pool } from 'pg';

export interface Client {
  id: number;
  perMinute: number;
  perDay: number;
}

const CLIENTS_BY_DIGEST = `
  SELECT k.digest, c.id, c.per_minute AS "perMinute", c.per_day AS "perDay"
  FROM api_keys k JOIN clients c ON c.id = k.client_id WHERE k.revoked_at IS NULL`;

/** Who holds which key, all of it in memory. */
export class Clients {
  private constructor(private readonly byDigest: ReadonlyMap<string, Client>) {}

  static async load(pool: Pool): Promise<Clients> {
    const { rows } = await pool.query<Client & { digest: string }>(CLIENTS_BY_DIGEST);
    return new Clients(new Map(rows.map(({ digest, ...client }) => [digest, client])));
  }

  holderOf(key: string): Client | undefined {
    return this.byDigest.get(hash('sha256', key, 'base64url'));
  }
}
