import { AsyncResource } from 'node:async_hooks';
import { Turns } from './coalescing/turns';
import type { PreparedStatement } from './prepared';
import type { Session, StoredRow } from './session';

/** Maximum number of statements on a connection at a time, so that none waits long for those before it. */
const MAX_TOGETHER = 20;
/** Maximum number of connections for such statements. */
const AT_ONCE = 3;

/** Maximum number of waiting reads, and how long they may wait. */
const MAX_WAITING = 5_000;
const QUEUE_TIMEOUT_MS = 5_000;

/** Treated like an unavailable database. */
class ReadTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
}

interface Read {
  since: number;
  statement: PreparedStatement;
  values: unknown[];
  /** The context of the request, whose trace shows the statement. */
  caller: AsyncResource;
  resolve: (rows: StoredRow[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Single statements outside of transactions. Statements of the same turn of the event loop are sent together on one
 * connection, because sending takes half the time of a short read. Each succeeds or fails alone.
 */
export class Reads {
  private waiting: Read[] = [];
  private readonly turns = new Turns(() => this.send(), AT_ONCE);

  constructor(
    private readonly session: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  run(statement: PreparedStatement, values: unknown[]): Promise<StoredRow[]> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) {
        reject(new ReadTimeoutError('Too many reads wait for the database.'));
        return;
      }
      const caller = new AsyncResource('Read');
      this.waiting.push({ statement, values, caller, since: performance.now(), resolve, reject });
      this.turns.soon();
    });
  }

  private send(): void {
    while (this.turns.free && this.waiting.length > 0) {
      const oldest = performance.now() - QUEUE_TIMEOUT_MS;
      const next = this.waiting.splice(0, MAX_TOGETHER);
      const reads = next.filter(({ since }) => since >= oldest);
      const late = next.filter(({ since }) => since < oldest);
      late.forEach(({ reject }) =>
        reject(new ReadTimeoutError('The read waited too long for the database.')),
      );
      if (reads.length > 0) {
        void this.turns.take(reads[0]!.caller, () => this.sendTogether(reads));
      }
    }
  }

  private async sendTogether(reads: Read[]): Promise<void> {
    try {
      await this.session((session) =>
        Promise.all(
          session.together(() =>
            reads.map(({ statement, values, caller, resolve, reject }) =>
              caller.runInAsyncScope(() => session.readWithRetry(statement, values)).then(resolve, reject),
            ),
          ),
        ),
      );
    } catch (error) {
      // No connection was available, or it failed.
      reads.forEach(({ reject }) => reject(error));
    }
  }
}
