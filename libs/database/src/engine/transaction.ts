import type { EntityTable } from './entity-table';
import { withRetries } from './postgres-errors';
import type { Session, Statement } from './session';
import type { Entity } from './state';

/**
 * PostgreSQL's timeouts for transactions, in milliseconds. A transaction that is idle for too long ends, so that a process
 * that hangs does not keep its row locks.
 */
export const TRANSACTION_TIMEOUTS = { idle_in_transaction_session_timeout: 10_000, lock_timeout: 5_000 };

const BEGIN: Statement = { text: 'BEGIN' };
/** Sets the timeouts for the transaction, because a connection pooler may have lost the timeouts of the connection. */
export const SET_TIMEOUTS: Statement = {
  text: `SELECT ${Object.entries(TRANSACTION_TIMEOUTS)
    .map(([name, milliseconds]) => `set_config('${name}', '${milliseconds}', true)`)
    .join(', ')}`,
};
export const COMMIT: Statement = { text: 'COMMIT' };
export const ROLLBACK: Statement = { text: 'ROLLBACK' };

export function beginning({ isPooled }: Session): readonly Statement[] {
  return isPooled ? [BEGIN, SET_TIMEOUTS] : [BEGIN];
}

/** What the engine needs of `Database`. The engine cannot import `Database`, because `Database` imports the engine. */
export interface EngineDatabase {
  readonly poolSize: number;
  withSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  table(entity: Entity): EntityTable<object>;
}

/**
 * Runs `work`, which sends the statements that begin and end a transaction itself. After an error, the transaction is
 * rolled back. After a deadlock, `work` runs again.
 * @throws the error of `work`, after the rollback
 */
export function rollingBack<Result>(
  database: EngineDatabase,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return withRetries(() =>
    database.withSession((session) => work(session).catch((error: unknown) => rollBack(session, error))),
  );
}

async function rollBack(session: Session, error: unknown): Promise<never> {
  // Throw the error only after the reply to ROLLBACK. PostgreSQL sends this reply once it has finished all earlier
  // statements of the transaction and released the row locks. If the error were thrown at once, the next attempt could
  // find its rows still locked by this transaction.
  await session.execute([ROLLBACK]).catch(() => undefined);
  throw error;
}
