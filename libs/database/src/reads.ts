import { Turns } from '#libs/coalescing';
import type { PreparedStatement } from './prepared';
import type { Session } from './session';

/** Statements that share a connection at a time: few enough that none waits long for those before it. */
const MAX_TOGETHER = 20;
/** Connections that such statements take from other work. */
const AT_ONCE = 3;

interface Read {
  statement: PreparedStatement;
  values: unknown[];
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Single statements outside of transactions. Those of the same turn of the event loop are sent together on one connection:
 * sending is half of what a short read costs. Each succeeds or fails alone.
 */
export class Reads {
  private waiting: Read[] = [];
  private readonly turns = new Turns(() => this.send(), AT_ONCE);
  private soon = false;

  constructor(
    private readonly session: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  run(statement: PreparedStatement, values: unknown[]): Promise<object[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ statement, values, resolve, reject });
      if (!this.soon && this.turns.free) {
        this.soon = true;
        setImmediate(() => {
          this.soon = false;
          this.send();
        });
      }
    });
  }

  private send(): void {
    while (this.turns.free && this.waiting.length > 0) {
      const reads = this.waiting.splice(0, MAX_TOGETHER);
      void this.turns.take(() => this.sendTogether(reads));
    }
  }

  private async sendTogether(reads: Read[]): Promise<void> {
    try {
      await this.session((session) =>
        Promise.all(
          session.together(() =>
            reads.map(({ statement, values, resolve, reject }) =>
              session.runAgain(statement, values).then(resolve, reject),
            ),
          ),
        ),
      );
    } catch (error) {
      // There was no connection to be had.
      reads.forEach(({ reject }) => reject(error));
    }
  }
}
