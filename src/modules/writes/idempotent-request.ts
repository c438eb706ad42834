import { type Command, Insert, type Lookup, type State } from '#libs/database';
import { ApiError, type ErrorBody, defineError } from '#libs/http';
import type { IdempotencyRecord } from './idempotency-record.entity';

export const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running.',
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
 * Statuses of errors that are stored and sent again on a retry. After any other error, the caller may reuse the key for
 * a corrected request.
 */
export const KEPT_ERRORS: readonly number[] = [404, 409, 422];

function isKept(error: unknown): error is ApiError {
  return error instanceof ApiError && KEPT_ERRORS.includes(error.status);
}

type StoredResponse = Pick<IdempotencyRecord, 'fingerprint' | 'status' | 'body'>;

const KEPT_FOR = `interval '24 hours'`;
/** SQL condition for responses that are too old to be replayed, measured by the clock of the database. */
export const EXPIRED = `created_at <= now() - ${KEPT_FOR}`;

const CLAIM = `SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || name, 0)) AS claimed
    FROM unnest($1::text[]) WITH ORDINALITY AS claims (name, place) ORDER BY place`;

/**
 * Locks an idempotency key for this transaction. Returns false if another request has the lock, because the first
 * request with the key is still running.
 */
const CLAIMS: Lookup<string, boolean> = {
  name: 'the claim',
  statementFor: (names) => ({ text: CLAIM, values: [names] }),
  resultsOf: (rows) => rows.map(([claimed]) => claimed as boolean),
};

/**
 * Finds the stored responses of several idempotency keys. Without LATERAL and LIMIT 1, PostgreSQL could read the whole
 * table.
 */
const FIND_RESPONSES = `SELECT place, kept.* FROM unnest($1::text[]) WITH ORDINALITY AS used (name, place)
    CROSS JOIN LATERAL (SELECT fingerprint, status, body FROM idempotency_records AS record
      WHERE record.name = used.name AND created_at + ${KEPT_FOR} > now() LIMIT 1) AS kept`;

/**
 * Finds out whether any stored response has a name (`IdempotencyRecord.name`) that begins with the text `$1`. Names
 * contain only ASCII characters with codes below 127 and are compared byte by byte (`BYTEWISE_TEXT`), so these names
 * are a range of the primary key: after `$1`, and before `$1` followed by the character with code 127.
 */
export const ANY_RESPONSE = `SELECT FROM idempotency_records
    WHERE name > $1::text AND name < $1::text || chr(127) AND created_at + ${KEPT_FOR} > now() LIMIT 1`;

/**
 * Looks up the stored response of an idempotency key. The key is locked first, because another request with the key may
 * store its response until that request releases the lock.
 */
const RESPONSES: Lookup<string, StoredResponse | null> = {
  name: 'the response',
  statementFor: (names) => ({ text: FIND_RESPONSES, values: [names] }),
  resultsOf: (rows, names) => {
    const found = names.map((): StoredResponse | null => null);
    for (const [place, fingerprint, status, body] of rows as [number, string, number, string][]) {
      found[place - 1] = { fingerprint, status, body };
    }
    return found;
  },
};

const SAVE_RESPONSE = new Insert(
  'INSERT INTO idempotency_records (name, fingerprint, status, body)',
  ['text', 'text', 'int', 'text'],
  ` ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
      body = excluded.body, created_at = now()`,
);

/** `replayed` if `decide` of a wrapped command returns or throws a stored response; `decided` for any other result or error. */
export type Outcome = 'decided' | 'replayed';

export class IdempotentRequest {
  /**
   * @param name the client's id, a space, and the idempotency key
   * @param status the status of the response if the command succeeds
   * @param isSame returns true if a stored fingerprint matches this request
   */
  constructor(
    readonly name: string,
    private readonly fingerprint: string,
    private readonly status: number,
    private readonly isSame = (kept: string): boolean => kept === fingerprint,
  ) {}

  /**
   * Wraps a command so that the command takes effect only once. A later command with the same key returns the stored
   * response.
   * @param report called with the outcome each time that `decide` runs. `decide` runs again if the batch of commands is
   * repeated, so only the last outcome counts
   */
  wrap<Result>(
    command: Command<Result>,
    report: (outcome: Outcome) => void = () => undefined,
  ): Command<Result> {
    const { name } = this;
    /** True if the command does not run, because another request with the key is running or has a stored response. */
    const isRepeated = (state: State) =>
      !state.lookUp(CLAIMS, name) || state.lookUp(RESPONSES, name) !== null;
    return {
      needs: [{ lookup: CLAIMS, key: name }, { lookup: RESPONSES, key: name }, ...command.needs],
      needsNoRows: isRepeated,
      decide: (state) => {
        report('decided');
        if (!state.lookUp(CLAIMS, name)) {
          throw new IdempotencyInProgressError();
        }
        const kept = state.lookUp(RESPONSES, name);
        if (kept !== null) {
          this.assertSame(kept);
          report('replayed');
          return replay(kept) as Result;
        }
        const result = command.decide(state);
        this.keep(state, this.status, result);
        return result;
      },
      recordError: (state, error) => {
        if (isKept(error) && !isRepeated(state)) {
          this.keep(state, error.status, error.toBody());
        }
      },
    };
  }

  private keep(state: State, status: number, response: unknown): void {
    const { name, fingerprint } = this;
    const body = JSON.stringify(response);
    state.append(SAVE_RESPONSE, [name, fingerprint, status, body]);
    state.setLookup(RESPONSES, name, { fingerprint, status, body });
  }

  private assertSame({ fingerprint }: StoredResponse): void {
    if (!this.isSame(fingerprint)) {
      throw new IdempotencyKeyReusedError();
    }
  }
}

/** Returns the stored response, or throws the stored error. */
function replay({ status, body }: StoredResponse): unknown {
  if (status >= 400) {
    const { code, message } = JSON.parse(body) as ErrorBody;
    throw new ApiError(code, status, message);
  }
  return JSON.parse(body);
}
