// The responses that are kept for Idempotency-Keys, and how a command claims a key.
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Insert, type Journal, type Lookup } from '#libs/database';

/** The response to a request with an Idempotency-Key. */
@Entity('idempotency_records')
@Index('idempotency_records_by_age', ['createdAt'])
export class IdempotencyRecord {
  /** The id of the client, a space and its key. */
  @PrimaryColumn('text')
  name!: string;

  @Column('text')
  fingerprint!: string;

  @Column('int')
  status!: number;

  @Column('text')
  body!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}

export interface StoredResponse {
  /** Digest of the request, which must match when the key is repeated. */
  fingerprint: string;
  status: number;
  /** JSON. */
  body: string;
}

/** How long responses are kept, measured by the database. */
const KEPT_FOR = `interval '24 hours'`;
/** Selects responses that will not be replayed any more. */
export const EXPIRED = `created_at <= now() - ${KEPT_FOR}`;

const CLAIM = {
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || name, 0)) AS claimed
    FROM unnest($1::text[]) WITH ORDINALITY AS claims (name, place) ORDER BY place`,
};

/** Whether no other transaction uses the key: claims it until the transaction ends. */
export const CLAIMS: Lookup<string, boolean> = {
  name: 'the claim',
  isBeforeRows: true,
  maxBatch: Infinity,
  callFor: (names) => ({ statement: CLAIM, values: [names] }),
  resultsOf: (rows) => rows.map(([claimed]) => claimed as boolean),
};

/** Row by row, and with an age that no index has: a plan made while there were few rows would later read those of a whole day. */
const FIND = {
  text: `SELECT place, kept.* FROM unnest($1::text[]) WITH ORDINALITY AS used (name, place)
    CROSS JOIN LATERAL (SELECT fingerprint, status, body FROM idempotency_records AS record
      WHERE record.name = used.name AND created_at + ${KEPT_FOR} > now() LIMIT 1) AS kept`,
};

/** The response of an earlier use. After the claims, and so it sees what earlier holders have committed. */
export const RESPONSES: Lookup<string, StoredResponse | null> = {
  name: 'the response',
  isBeforeRows: true,
  maxBatch: Infinity,
  callFor: (names) => ({ statement: FIND, values: [names] }),
  resultsOf: (rows, names) => {
    const found = names.map((): StoredResponse | null => null);
    for (const [place, fingerprint, status, body] of rows as [number, string, number, string][]) {
      found[place - 1] = { fingerprint, status, body };
    }
    return found;
  },
};

/** Overwrites an expired response. */
const KEEP = new Insert(
  'INSERT INTO idempotency_records (name, fingerprint, status, body)',
  ['text', 'text', 'int', 'text'],
  ` ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
      body = excluded.body, created_at = now()`,
);

/** Keeps responses in the transaction of the change. */
export const RECORDS: Journal<StoredResponse & { name: string }> = {
  write: (records) => [
    KEEP.of(records.map(({ name, fingerprint, status, body }) => [name, fingerprint, status, body])),
  ],
};
