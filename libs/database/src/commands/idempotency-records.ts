import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Session } from '../session';

/** The response to a request with an Idempotency-Key. */
@Entity('idempotency_records')
@Index('idempotency_records_by_age', ['createdAt'])
export class IdempotencyRecord {
  @PrimaryColumn({ name: 'owner_id', type: 'bigint' })
  ownerId!: number;

  @PrimaryColumn('text')
  key!: string;

  @Column('text')
  fingerprint!: string;

  @Column('int')
  status!: number;

  @Column('text')
  body!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}

/** How long responses are kept, measured by the database. */
const KEPT_FOR = `interval '24 hours'`;
/** Selects responses that will not be replayed any more. */
export const EXPIRED = `created_at <= now() - ${KEPT_FOR}`;

/** The first command with this key is still running, in this process or another one. */
export class KeyInUseError extends Error {}

/** The key belongs to another request. */
export class KeyReusedError extends Error {}

/** One use of an Idempotency-Key. */
export interface IdempotentUse {
  /** Keys are per owner. */
  owner: number;
  key: string;
  /** Digest of the request, which must match when the key is repeated. */
  fingerprint: string;
  /** The status of a successful response. */
  status: number;
  /** Set once a command runs with it; the command then stores the response. */
  sent: boolean;
  /** Set if the response is a replay. */
  replayed: boolean;
  /** The response to store for an error; undefined if the request may be tried again with the same key. */
  responseTo(error: unknown): KeptResponse | undefined;
  /** The result in a stored response. @throws the error in it */
  resultOf(response: KeptResponse): object;
}

export interface KeptResponse {
  status: number;
  /** The resource, or the error's body. */
  body: object;
}

/** The stored state of the keys in a batch. */
export interface KnownUses {
  /** Keys that no other transaction is using. */
  claimed: ReadonlySet<IdempotentUse>;
  kept: ReadonlyMap<IdempotentUse, KeptResponse & { fingerprint: string }>;
}

/** The locks last until the transaction ends. Sent before KEPT, which then sees what earlier holders committed. */
const CLAIM = {
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended(claim, 0)) AS claimed
    FROM unnest($1::text[]) WITH ORDINALITY AS claims (claim, place) ORDER BY place`,
};
/** Row by row, and with an age that no index has: a plan made while there were few rows would later read those of a whole day. */
const KEPT = {
  text: `SELECT place, kept.* FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS used (owner_id, key, place)
    CROSS JOIN LATERAL (SELECT fingerprint, status, body FROM idempotency_records AS record
      WHERE record.owner_id = used.owner_id AND record.key = used.key AND created_at + ${KEPT_FOR} > now() LIMIT 1) AS kept`,
};
/** Overwrites an expired response. */
const KEEP = {
  text: `INSERT INTO idempotency_records (owner_id, key, fingerprint, status, body)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[])
    ON CONFLICT (owner_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
      body = excluded.body, created_at = now()`,
};

/** Claims the keys until the transaction ends and reads stored responses. Needs no extra round trip. */
export async function claim(session: Session, uses: readonly IdempotentUse[]): Promise<KnownUses> {
  const [claims, rows] = await Promise.all([
    session.run<{ claimed: boolean }>(CLAIM, [uses.map(({ owner, key }) => `idempotency ${owner} ${key}`)]),
    session.run<KeptResponseRow>(KEPT, [uses.map(({ owner }) => owner), uses.map(({ key }) => key)]),
  ]);
  return {
    claimed: new Set(uses.filter((_use, index) => claims[index]!.claimed)),
    kept: new Map(
      rows.map(({ place, body, ...kept }) => [
        uses[place - 1]!,
        { ...kept, body: JSON.parse(body) as object },
      ]),
    ),
  };
}

interface KeptResponseRow {
  place: number;
  fingerprint: string;
  status: number;
  body: string;
}

/**
 * Returns the stored result; undefined if this is the first use of the key.
 * @throws KeyInUseError, KeyReusedError; the stored error
 */
export function replay(use: IdempotentUse, { claimed, kept }: KnownUses): object | undefined {
  // A batch may run again.
  use.replayed = false;
  if (!claimed.has(use)) {
    throw new KeyInUseError();
  }
  const response = kept.get(use);
  if (response === undefined) {
    return undefined;
  }
  if (response.fingerprint !== use.fingerprint) {
    throw new KeyReusedError();
  }
  use.replayed = true;
  return use.resultOf(response);
}

/** Stores responses in the transaction of the change. */
export async function keep(
  session: Session,
  responses: readonly { use: IdempotentUse; response: KeptResponse }[],
): Promise<void> {
  await session.run(KEEP, [
    responses.map(({ use }) => use.owner),
    responses.map(({ use }) => use.key),
    responses.map(({ use }) => use.fingerprint),
    responses.map(({ response }) => response.status),
    responses.map(({ response }) => JSON.stringify(response.body)),
  ]);
}
