import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#libs/database';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './errors';

/** How long an answer is kept. */
export const KEPT_HOURS = 24;

/** One use of an Idempotency-Key. */
export interface IdempotentUse {
  /** Whose key it is; the same key of another owner is another key. */
  owner: number;
  key: string;
  /** Digest of method, path and body: what must be the same when the key comes again. */
  fingerprint: string;
}

export interface KeptAnswer {
  status: number;
  /** The resource, or the error's body. */
  body: object;
}

/** @param body as it was sent, to the byte */
export function fingerprintOf(method: string, target: string, body: Buffer): string {
  return createHash('sha256').update(`${method} ${target}\n`).update(body).digest('base64url');
}

/** The table `idempotency_records`: owner_id bigint, key text, fingerprint text, status int, body text, created_at; unique (owner_id, key). */
@Injectable()
export class IdempotencyRecords {
  constructor(private readonly database: Database) {}

  /**
   * Claims the key until the transaction ends, and returns what its first use was answered, if that is kept.
   * @throws ApiError 409 `idempotency_in_progress` while another transaction holds the claim, and
   * 422 `idempotency_key_reused` when the key belongs to another request.
   */
  async claim(transaction: Transaction, use: IdempotentUse): Promise<KeptAnswer | null> {
    const [claim] = await transaction.query<{ claimed: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS claimed`,
      [`idempotency ${use.owner} ${use.key}`],
    );
    if (!claim?.claimed) {
      throw new IdempotencyInProgressError();
    }
    const [kept] = await transaction.query<{ fingerprint: string; status: number; body: string }[]>(
      `SELECT fingerprint, status, body FROM idempotency_records
       WHERE owner_id = $1 AND key = $2 AND created_at > now() - make_interval(hours => $3)`,
      [use.owner, use.key, KEPT_HOURS],
    );
    if (!kept) {
      return null;
    }
    if (kept.fingerprint !== use.fingerprint) {
      throw new IdempotencyKeyReusedError();
    }
    return { status: kept.status, body: JSON.parse(kept.body) as object };
  }

  /** Keeps the answer, in the transaction of what it created. Replaces an expired one. */
  async keep(transaction: Transaction, use: IdempotentUse, answer: KeptAnswer): Promise<void> {
    await transaction.query(
      `INSERT INTO idempotency_records (owner_id, key, fingerprint, status, body) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (owner_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
         body = excluded.body, created_at = now()`,
      [use.owner, use.key, use.fingerprint, answer.status, JSON.stringify(answer.body)],
    );
  }

  /** Deletes answers that are no longer kept, some at a time, so that no lock is held for long. */
  async deleteExpired(most = 10_000): Promise<void> {
    let deleted: unknown[];
    do {
      deleted = await this.database.query(
        `WITH expired AS (
           SELECT owner_id, key FROM idempotency_records
           WHERE created_at <= now() - make_interval(hours => $1) LIMIT $2)
         DELETE FROM idempotency_records USING expired
         WHERE idempotency_records.owner_id = expired.owner_id AND idempotency_records.key = expired.key
           AND created_at <= now() - make_interval(hours => $1)
         RETURNING 1`,
        [KEPT_HOURS, most],
      );
    } while (affected(deleted) === most);
  }
}

/** TypeORM answers a DELETE with its rows and their number. */
function affected(result: unknown[]): number {
  return typeof result[1] === 'number' ? result[1] : result.length;
}
