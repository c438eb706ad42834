import type { EntityTable } from './entity-table';
import { withRetries } from './postgres-errors';
import type { Session, Statement } from './session';
import type { Entity } from './state';

const BEGIN: Statement = { text: 'BEGIN' };
/** Sets timeouts for the transaction, because a connection pooler may have lost the timeouts of the connection. */
const SET_TIMEOUTS: Statement = {
  text: `SELECT set_config('idle_in_transaction_session_timeout', '10s', true), set_config('lock_timeout', '5s', true)`,
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
