import { withRetries } from './postgres-errors';
import type { Session, Statement } from './session';

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

export interface Sessions {
  withSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
}

/**
 * Runs `work`, which sends the statements that begin and end a transaction itself. After an error, the transaction is
 * rolled back. After a deadlock, `work` runs again.
 * @throws the error of `work`, after the rollback
 */
export function rollingBack<Result>(
  sessions: Sessions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return withRetries(() =>
    sessions.withSession((session) => work(session).catch((error: unknown) => rollBack(session, error))),
  );
}

async function rollBack(session: Session, error: unknown): Promise<never> {
  // Throw the error only after the reply to ROLLBACK. PostgreSQL sends this reply once it has finished all earlier
  // statements of the transaction and released the row locks. If the error were thrown at once, the next attempt could
  // find its rows still locked by this transaction.
  await session.execute([ROLLBACK]).catch(() => undefined);
  throw error;
}
