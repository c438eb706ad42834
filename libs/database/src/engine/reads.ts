import { type CallerId, FairQueue, type Queued, startedRecently } from './queue';
import { withRetries } from './postgres-errors';
import type { Session, SharedRead, Statement, StoredRow } from './session';

/**
 * Maximum number of statements that are sent together on one connection. PostgreSQL executes these statements one after
 * the other, so with more of them the last one would wait too long.
 */
const MAX_TOGETHER = 20;
/**
 * Maximum number of connections for reads. If a connection has been busy for more than 100 ms, one more connection may
 * be used (MAX_WITH_SLOW).
 */
const MAX_CONNECTIONS = 3;
const MAX_WITH_SLOW = 4;

const QUEUE = { max: 10_000, maxOfCaller: 5_000, timeoutMs: 5_000 };

interface ReadEntry {
  /** Reads are of the same kind if one execution of one statement can answer all of them. */
  readonly kind: unknown;
  readonly read: SharedRead<unknown, unknown>;
  readonly key: unknown;
  /** True if the read may scan thousands of rows. */
  readonly isSlow: boolean;
}

export interface ReadOptions {
  /** The caller for which the read is made, or SERVICE_CALLER_ID. */
  callerId: CallerId;
  /** True if the statement may scan thousands of rows. Each caller may run one slow statement at a time. */
  isSlow: boolean;
}

/** Reads that waited at the same time and get their results from one execution of a statement. */
interface Group {
  reads: Queued<ReadEntry>[];
  keys: Set<unknown>;
}

/** Groups of reads, each by the `kind` of its reads. */
type Groups = Map<unknown, Group>;

/** The reads whose statements were sent together on one connection. */
interface SentReads {
  /** The groups that have no results yet. */
  pending: Groups;
  since: number;
}

/**
 * Runs reads outside of transactions. Callers take turns. Reads that wait at the same time and differ only in their keys,
 * such as the ids of rows, are answered by one execution of one statement.
 */
export class Reads {
  private readonly queue = new FairQueue<ReadEntry>('Read', QUEUE, () => this.start());
  private running: SentReads[] = [];
  /** The number of reads that were taken from the queue together the last time. */
  private lastTaken = 1;

  constructor(
    private readonly withSession: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  readByKey<Key, Result>(read: SharedRead<Key, Result>, key: Key, callerId: CallerId): Promise<Result> {
    return this.add(callerId, { kind: read, read: read as SharedRead<unknown, unknown>, key, isSlow: false });
  }

  /**
   * Runs a statement. If several callers request the same text with the same values, the statement is executed once,
   * and all these callers get its rows.
   * @throws the driver's error; OverloadedError if the queue is full or the read has waited for five seconds
   */
  read(statement: Statement, { callerId, isSlow }: ReadOptions): Promise<StoredRow[]> {
    const read: SharedRead<unknown, unknown> = {
      statementFor: () => statement,
      resultsOf: (rows) => [rows],
    };
    const kind = `${statement.text} ${JSON.stringify(statement.values)}`;
    return this.add(callerId, { kind, read, key: null, isSlow });
  }

  private add<Result>(callerId: CallerId, entry: ReadEntry): Promise<Result> {
    const result = this.queue.add<Result>(callerId, entry);
    if (this.running.length === 0 && this.lastTaken === 1) {
      // Send the read at once instead of collecting more reads for one round trip. Last time only one read was waiting,
      // so that more reads are unlikely to come.
      this.start();
    }
    return result;
  }

  private start(): void {
    let recent = startedRecently(this.running);
    while (recent.length < MAX_CONNECTIONS && this.running.length < MAX_WITH_SLOW) {
      const groups = this.take(recent);
      if (groups.size === 0) {
        return;
      }
      this.run({ pending: groups, since: performance.now() }).catch((error: unknown) =>
        rejectAll(groups, error),
      );
      recent = startedRecently(this.running);
    }
  }

  /**
   * Takes waiting reads from the queue, and groups the reads by kind.
   * @param recent the reads that were sent less than 100 ms ago. While a read of some kind is among them and has no result,
   * waiting reads of the same kind stay in the queue. One later execution of the statement then answers all of these
   * waiting reads, which is cheaper than one execution for each
   */
  private take(recent: readonly SentReads[]): Groups {
    const groups: Groups = new Map();
    const taken = this.queue.take((queued) => {
      const { kind, read, key, isSlow } = queued.item;
      const group = groups.get(kind);
      if (group !== undefined) {
        const hasRoom = group.keys.size < (read.maxKeys ?? Infinity) || group.keys.has(key);
        if (hasRoom) {
          group.reads.push(queued);
          group.keys.add(key);
        }
        return hasRoom;
      }
      const mayStart =
        groups.size < MAX_TOGETHER &&
        !recent.some((sent) => sent.pending.has(kind)) &&
        !(isSlow && this.hasSlow(queued.callerId, groups));
      if (mayStart) {
        groups.set(kind, { reads: [queued], keys: new Set([key]) });
      }
      return mayStart;
    });
    this.lastTaken = taken.length || this.lastTaken;
    return groups;
  }

  /**
   * True if a slow statement of this caller is running, or is in `next`, the groups that are to be sent next. Each
   * caller may run one slow statement at a time, so that a few callers cannot take all connections.
   */
  private hasSlow(callerId: CallerId, next: Groups): boolean {
    return [next, ...this.running.map(({ pending }) => pending)].some((groups) =>
      [...groups.values()].some(({ reads: [first] }) => first!.item.isSlow && first!.callerId === callerId),
    );
  }

  private async run(sent: SentReads): Promise<void> {
    this.running.push(sent);
    const groups = [...sent.pending.values()];
    const work = (session: Session) =>
      session.corked(() => Promise.all(groups.map((group) => this.load(session, group, sent))));
    await inContext(groups[0]!, () => this.withSession(work)).catch((error: unknown) =>
      rejectAll(sent.pending, error),
    );
    this.running = this.running.filter((other) => other !== sent);
    this.start();
  }

  private async load(session: Session, group: Group, { pending }: SentReads): Promise<void> {
    const { reads } = group;
    const { kind, read } = reads[0]!.item;
    const keys = [...group.keys];
    try {
      const send = () => withRetries(() => session.execute([read.statementFor(keys)]));
      const [result] = await inContext(group, send);
      const values = read.resultsOf(result!.rows, keys);
      const results = new Map(values.map((value, index) => [keys[index], value]));
      reads.forEach(({ item, resolve }) => resolve(results.get(item.key)));
    } catch (error) {
      reads.forEach(({ reject }) => reject(error));
    }
    pending.delete(kind);
    this.queue.schedule();
  }
}

function rejectAll(groups: Groups, error: unknown): void {
  [...groups.values()].flatMap(({ reads }) => reads).forEach(({ reject }) => reject(error));
}

function inContext<Result>({ reads }: Group, work: () => Result): Result {
  return reads[0]!.context.runInAsyncScope(work);
}
