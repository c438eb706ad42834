// How a request with an Idempotency-Key claims its key, and keeps its response in the transaction of its change.
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  BYTEWISE_TEXT,
  type Command,
  Insert,
  type Journal,
  type Lookup,
  Rejection,
  type State,
} from '#libs/database';
import { ApiError, type ErrorBody, defineError } from '#libs/http';

export const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  message: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  headers: () => ({ 'Retry-After': '1' }),
});

export const IdempotencyKeyReusedError = defineError({
  code: 'idempotency_key_reused',
  status: 422,
  when: 'This Idempotency-Key was used for a different request in the last 24 hours.',
  message: 'This Idempotency-Key was already used for a different request. Use a new key.',
});

/**
 * Statuses of the errors that are kept: the operation has decided on the request. After any other error, a caller may correct the
 * request and send it with the same key.
 */
export const KEPT_ERRORS: readonly number[] = [404, 409, 422];

function isKept(error: unknown): error is ApiError {
  return error instanceof ApiError && KEPT_ERRORS.includes(error.status);
}

/** The response to a request with an Idempotency-Key. */
@Entity('idempotency_records')
@Index('idempotency_records_by_age', ['createdAt'])
export class IdempotencyRecord {
  /** The id of the client, a space and its key. */
  @PrimaryColumn({ ...BYTEWISE_TEXT })
  name!: string;

  /** Digest of the request, which must match when the key is repeated. */
  @Column('text')
  fingerprint!: string;

  @Column('int')
  status!: number;

  /** JSON. */
  @Column('text')
  body!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}

type StoredResponse = Pick<IdempotencyRecord, 'fingerprint' | 'status' | 'body'>;

/** How long responses are kept, measured by the database. */
const KEPT_FOR = `interval '24 hours'`;
/** Selects responses that will not be replayed any more. */
export const EXPIRED = `created_at <= now() - ${KEPT_FOR}`;

const CLAIM = {
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || name, 0)) AS claimed
    FROM unnest($1::text[]) WITH ORDINALITY AS claims (name, place) ORDER BY place`,
};

/** Whether no other transaction uses the key: claims it until the transaction ends. */
const CLAIMS: Lookup<string, boolean> = {
  name: 'the claim',
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
const RESPONSES: Lookup<string, StoredResponse | null> = {
  name: 'the response',
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
const RECORDS: Journal<StoredResponse & { name: string }> = {
  write: (records) => [
    KEEP.of(records.map(({ name, fingerprint, status, body }) => [name, fingerprint, status, body])),
  ],
};

/** A request with an Idempotency-Key, and how its command is carried out once. */
export class KeyedRequest {
  /** Set once a command was sent; its response is kept. */
  isSent = false;
  /** Set if the response is the one of an earlier request. */
  isReplayed = false;

  /**
   * @param name of the key: keys are per client
   * @param status of the response, if it succeeds
   * @param isSame whether a kept fingerprint is that of this request
   */
  constructor(
    readonly name: string,
    private readonly fingerprint: string,
    private readonly status: number,
    private readonly isSame = (kept: string): boolean => kept === fingerprint,
  ) {}

  /**
   * The command, decided once. The result or error is kept in the transaction of the command, and a later request with the same
   * key gets the kept response. A command also sees the responses that earlier commands of its batch have kept.
   */
  once<Result>(command: Command<Result>): Command<Result | Rejection> {
    const { name } = this;
    this.isSent = true;
    return {
      needs: [{ lookup: CLAIMS, key: name }, { lookup: RESPONSES, key: name }, ...command.needs],
      needsNoRows: (state) => !state.lookUp(CLAIMS, name) || state.lookUp(RESPONSES, name) !== null,
      decide: (state) => {
        // A batch may run again.
        this.isReplayed = false;
        if (!state.lookUp(CLAIMS, name)) {
          throw new IdempotencyInProgressError();
        }
        const kept = state.lookUp(RESPONSES, name);
        return kept === null ? this.decide(command, state) : (this.replay(kept) as Result);
      },
      translateViolation: (error) => command.translateViolation?.(error) ?? error,
    };
  }

  private decide<Result>(command: Command<Result>, state: State): Result | Rejection {
    try {
      const result = command.decide(state);
      this.keep(state, this.status, result);
      return result;
    } catch (error) {
      if (!isKept(error)) {
        throw error;
      }
      state.rollBack();
      this.keep(state, error.status, error.toBody());
      return new Rejection(error);
    }
  }

  private keep(state: State, status: number, body: unknown): void {
    const response = { fingerprint: this.fingerprint, status, body: JSON.stringify(body) };
    state.append(RECORDS, { name: this.name, ...response });
    state.note(RESPONSES, this.name, response);
  }

  private replay({ fingerprint, status, body }: StoredResponse): unknown {
    if (!this.isSame(fingerprint)) {
      throw new IdempotencyKeyReusedError();
    }
    this.isReplayed = true;
    if (status >= 400) {
      const { code, message } = JSON.parse(body) as ErrorBody;
      throw new ApiError(code, status, message);
    }
    return JSON.parse(body);
  }
}
