import type { RowLock } from '#libs/database';
import type { IdempotentUse } from './idempotency-records';
import type { Entity, Figure, State } from './state';

/** What a command needs to know before it can decide. */
export type Need =
  | { row: Entity; id: number; lock?: RowLock }
  | { figure: Figure; id: number }
  /** An id for a row that may be inserted. */
  | { newId: Entity };

/** One change of the store: what it needs, what it decides. What it changes is written when the batch is committed. */
export interface Command<Answer = unknown> {
  readonly needs: readonly Need[];
  /**
   * Decides on the loaded state, and changes it. Plain code: it waits for nothing and has no other effect.
   * @throws ApiError to refuse; nothing of what it changed remains then
   */
  decide(state: State): Answer;
  /** What a constraint means that only the database can check. Not kept under an Idempotency-Key. */
  explain?(error: unknown): unknown;
}

/** Who sent a command. */
export interface Origin {
  /** The client; waiting commands are taken in turns by client. */
  owner: number;
  /** The status of a successful answer, which is kept with it. */
  status: number;
  /** Set when the request carries an `Idempotency-Key`. */
  use?: IdempotentUse;
}
