import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type EntityManager } from 'typeorm';

export interface LongTransactionOptions {
  /** Sees the database as it is at the beginning, and cannot change it. */
  ofSnapshot?: boolean;
  /** Cancels the running statement and rolls back; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Selected by name, because older versions of PostgreSQL lack some of them. Set for this transaction only. */
export const WITHOUT_TIMEOUTS = `SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`;

/**
 * Runs work in a transaction of any duration: on its own connection, without the timeouts that apply to requests. It is
 * not retried after a conflict.
 * @throws whatever the work throws, after the rollback
 */
export async function longTransaction<Result>(
  dataSource: DataSource,
  work: (transaction: EntityManager) => Promise<Result>,
  { ofSnapshot = false, signal }: LongTransactionOptions = {},
): Promise<Result> {
  signal?.throwIfAborted();
  const unhurried = await new DataSource(withoutTimeouts(dataSource.options)).initialize();
  try {
    return await unhurried.transaction(async (transaction) => {
      const mode = ofSnapshot ? 'REPEATABLE READ, READ ONLY' : 'READ COMMITTED, READ WRITE';
      await transaction.query(`SET TRANSACTION ISOLATION LEVEL ${mode}`);
      await transaction.query(WITHOUT_TIMEOUTS);
      return cancellable(dataSource, transaction, work, signal);
    });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    await unhurried.destroy();
  }
}

function withoutTimeouts(options: DataSourceOptions): DataSourceOptions {
  const extra = {
    ...(options.extra as object),
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    query_timeout: 0,
    onConnect: undefined,
    // COPY does not work with it.
    pipeline: false,
  };
  return { ...options, driver: undefined, poolSize: 1, extra } as DataSourceOptions;
}

/**
 * PostgreSQL ignores a cancellation that arrives between two statements, so it is repeated until the work has ended.
 */
const CANCEL_AGAIN_MS = 100;

/** A statement can be cancelled only from another connection. */
async function cancellable<Result>(
  dataSource: DataSource,
  transaction: EntityManager,
  work: (transaction: EntityManager) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const [session] = await transaction.query<{ pid: number }[]>(`SELECT pg_backend_pid() AS pid`);
  const settled = new AbortController();
  let cancelling = Promise.resolve();
  const cancel = (): void => {
    cancelling = cancelUntil(settled.signal, dataSource, session!.pid);
  };
  signal?.throwIfAborted();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const result = await work(transaction);
    signal?.throwIfAborted();
    return result;
  } finally {
    signal?.removeEventListener('abort', cancel);
    settled.abort();
    await cancelling;
  }
}

async function cancelUntil(settled: AbortSignal, dataSource: DataSource, pid: number): Promise<void> {
  while (!settled.aborted) {
    await dataSource.query(`SELECT pg_cancel_backend($1)`, [pid]).catch(() => undefined);
    await pause(CANCEL_AGAIN_MS, undefined, { signal: settled }).catch(() => undefined);
  }
}
