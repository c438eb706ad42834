import { type Command, type Origin, Rejection, type State } from '#libs/database';
import { ApiError, type ErrorBody, defineError } from '#libs/http';
import { CLAIMS, type StoredResponse, RECORDS, RESPONSES } from './idempotency-records';

export const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  message: 'The first request with this Idempotency-Key is still running. Try again shortly.',
});

export const IdempotencyKeyReusedError = defineError({
  code: 'idempotency_key_reused',
  status: 422,
  when: 'This Idempotency-Key was used for a different request in the last 24 hours.',
  message: 'This Idempotency-Key was already used for a different request. Use a new key.',
});

const NOT_KEPT = [401, 403, 408, 412, 429];

/** Statuses of responses that are not kept: the request may be tried again with the same key. */
export function isRetryableStatus(status: number): boolean {
  return status >= 500 || NOT_KEPT.includes(status);
}

/** True for an error that is the answer to the request whenever it is sent again. */
export function isStoredError(error: unknown): error is ApiError {
  return error instanceof ApiError && !isRetryableStatus(error.status);
}

/** A request with an Idempotency-Key, and how its command is carried out once. */
export class KeyedRequest {
  /** Set once a command was sent; its response is kept. */
  isSent = false;
  /** Set if the response is the one of an earlier request. */
  isReplayed = false;
  /** Of the key: keys are per client. */
  readonly name: string;

  /**
   * @param fingerprint a digest of the request
   * @param status of its response, if it succeeds
   */
  constructor(
    private readonly clientId: number,
    key: string,
    private readonly fingerprint: string,
    private readonly status: number,
  ) {
    this.name = `${clientId} ${key}`;
  }

  get origin(): Origin {
    return { owner: this.clientId, wrap: (command) => this.once(command) };
  }

  /**
   * The command, decided once: its result or error is kept in its own transaction, and whoever repeats the key gets that.
   * Commands of one batch see what those before them have kept.
   */
  private once<Result>(command: Command<Result>): Command<Result | Rejection> {
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
      if (!isStoredError(error)) {
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
    state.note(RESPONSES, this.name, () => response);
  }

  private replay({ fingerprint, status, body }: StoredResponse): unknown {
    if (fingerprint !== this.fingerprint) {
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
