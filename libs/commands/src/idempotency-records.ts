import { createHash } from 'node:crypto';
import { ApiError, type ErrorBody } from '#libs/errors';
import type { Database, Session } from '#libs/database';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './idempotency-errors';

/** How long an answer is kept. */
export const KEPT_HOURS = 24;

/** One use of an Idempotency-Key. */
export interface IdempotentUse {
  /** Whose key it is; the same key of another owner is another key. */
  owner: number;
  key: string;
  /** Digest of method, path and body: what must be the same when the key comes again. */
  fingerprint: string;
  /** Set when a command was sent for it; the answer is kept, or the command says why not. */
  sent: boolean;
  /** Set when the answer is the one that the first request got. */
  replayed: boolean;
}

export interface KeptAnswer {
  status: number;
  /** The resource, or the error's body. */
  body: object;
}

/** What PostgreSQL knows about the uses of a batch. */
export interface KnownUses {
  /** Uses that no other transaction is working on. */
  claimed: ReadonlySet<IdempotentUse>;
  kept: ReadonlyMap<IdempotentUse, KeptAnswer & { fingerprint: string }>;
}

/** Held until the transaction ends. Sent before KEPT: a statement sees what was committed before it began. */
const CLAIM = {
  name: 'idempotency-claim',
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended(claim, 0)) AS claimed
    FROM unnest($1::text[]) WITH ORDINALITY AS claims (claim, place) ORDER BY place`,
};
const KEPT = {
  name: 'idempotency-kept',
  text: `SELECT place, fingerprint, status, body
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS used (owner_id, key, place)
    JOIN idempotency_records USING (owner_id, key) WHERE created_at > now() - make_interval(hours => ${KEPT_HOURS})`,
};
/** Replaces an expired answer. */
const KEEP = {
  name: 'idempotency-keep',
  text: `INSERT INTO idempotency_records (owner_id, key, fingerprint, status, body)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[])
    ON CONFLICT (owner_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
      body = excluded.body, created_at = now()`,
};

/** @param body as it was sent, to the byte */
export function fingerprintOf(method: string, target: string, body: Buffer): string {
  return createHash('sha256').update(`${method} ${target}\n`).update(body).digest('base64url');
}

/** True for answers that say nothing about the request itself: it may be tried again with the same key. */
export function isNotKept(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

/** Claims the keys until the transaction ends, and reads what their first uses were answered. Costs no round trip of its own. */
export async function claim(session: Session, uses: readonly IdempotentUse[]): Promise<KnownUses> {
  const [claims, rows] = await Promise.all([
    session.run<{ claimed: boolean }>(CLAIM, [uses.map(({ owner, key }) => `idempotency ${owner} ${key}`)]),
    session.run<KeptAnswerRow>(KEPT, [uses.map(({ owner }) => owner), uses.map(({ key }) => key)]),
  ]);
  return {
    claimed: new Set(uses.filter((_use, index) => claims[index]!.claimed)),
    kept: new Map(rows.map(({ place, ...kept }) => [uses[Number(place) - 1]!, keptOf(kept)])),
  };
}

type StoredAnswer = Omit<KeptAnswerRow, 'place'>;

interface KeptAnswerRow {
  place: string;
  fingerprint: string;
  status: number;
  body: string;
}

function keptOf({ fingerprint, status, body }: StoredAnswer): KeptAnswer & { fingerprint: string } {
  return { fingerprint, status, body: JSON.parse(body) as object };
}

/**
 * What the first use was answered; undefined for a use that is the first one.
 * @throws ApiError the kept refusal; 409 `idempotency_in_progress` while another transaction works on the key; 422
 * `idempotency_key_reused` when the key belongs to another request
 */
export function replay(use: IdempotentUse, { claimed, kept }: KnownUses): object | undefined {
  // A batch may run again.
  use.replayed = false;
  if (!claimed.has(use)) {
    throw new IdempotencyInProgressError();
  }
  const answer = kept.get(use);
  if (answer === undefined) {
    return undefined;
  }
  if (answer.fingerprint !== use.fingerprint) {
    throw new IdempotencyKeyReusedError();
  }
  use.replayed = true;
  if (answer.status >= 400) {
    const { code, status, message } = answer.body as ErrorBody;
    throw new ApiError(code, status, message);
  }
  return answer.body;
}

/** Keeps answers, in the transaction of what they tell. */
export async function keep(
  session: Session,
  answers: readonly { use: IdempotentUse; answer: KeptAnswer }[],
): Promise<void> {
  await session.run(KEEP, [
    answers.map(({ use }) => use.owner),
    answers.map(({ use }) => use.key),
    answers.map(({ use }) => use.fingerprint),
    answers.map(({ answer }) => answer.status),
    answers.map(({ answer }) => JSON.stringify(answer.body)),
  ]);
}

/** Deletes answers that are no longer kept, some at a time, so that no lock is held for long. */
export async function deleteExpired(database: Database, most = 10_000): Promise<void> {
  for (let deleted = most; deleted === most; ) {
    const [row] = await database.query<{ count: number }>(
      `WITH deleted AS (DELETE FROM idempotency_records WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM idempotency_records
         WHERE created_at <= now() - make_interval(hours => ${KEPT_HOURS}) LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1)
       SELECT count(*)::int AS count FROM deleted`,
      [most],
    );
    deleted = row!.count;
  }
}
