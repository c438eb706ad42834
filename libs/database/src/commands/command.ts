import type { RowLock } from '../entity-table';
import type { IdempotentUse } from './idempotency-records';
import type { Entity, Figure, State } from './state';

/** Data that a command needs before it can decide. */
export type Need =
  | { row: Entity; id: number; lock?: RowLock }
  | { figure: Figure; id: number }
  /** A new id for an insert. */
  | { newId: Entity };

/** One change of the store: the data it needs, and a decision on it. Changes are written when the batch commits. */
export interface Command<Answer = unknown> {
  readonly needs: readonly Need[];
  /**
   * Decides on the loaded state and changes it. Synchronous and without side effects.
   * @throws ApiError to reject the command, which discards its changes
   */
  decide(state: State): Answer;
  /** Translates a constraint violation. Its result is not kept for the Idempotency-Key. */
  explain?(error: unknown): unknown;
}

/** Who sent a command. */
export interface Origin {
  /** The client id. The queue takes turns between clients. */
  owner: number;
  /** The status of a successful response, stored for the Idempotency-Key. */
  status: number;
  /** Set when the request carries an `Idempotency-Key`. */
  use?: IdempotentUse;
}
