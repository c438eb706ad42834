import { ConcurrencyLimiter, FairQueue, type Waiting } from './queue';
import { type Session, type Statement, type StoredRow, withRetries } from './session';

/**
 * A read that one statement does for many requests. Requests that pass the same object share statements: those that
 * arrive while a statement runs share the next one, so a result is never older than its request.
 */
export interface SharedRead<Key, Result> {
  /** Maximum keys of a statement. */
  readonly maxBatch: number;
  /** @param keys of the requests, each once */
  statementFor(keys: readonly Key[]): [Statement, values: unknown[]];
  /** @returns the result for each key, in the order of the keys */
  resultsOf(rows: readonly StoredRow[], keys: readonly Key[]): Result[];
}

/** The caller of the service's own reads. */
export const SERVICE = 0;

/** Maximum statements on a connection at a time, so that none waits long for those before it. */
const MAX_TOGETHER = 20;
/** Maximum connections for such statements. */
const AT_ONCE = 3;

/** Maximum waiting reads, in total and per caller. */
const QUEUE = { max: 10_000, maxOfOwner: 5_000, timeoutMs: 5_000 };

interface Entry {
  /** Those with the same share a statement. */
  id: unknown;
  read: SharedRead<unknown, unknown>;
  key: unknown;
  isSlow: boolean;
}

/** The requests that a statement is for; at least one. */
type Group = (Entry & Waiting)[];

/**
 * Reads outside of transactions. Reads that wait are taken in turns between callers. Those that can share a statement do,
 * and the statements are sent together on one connection, because sending takes half the time of a short read. Each
 * statement succeeds or fails alone.
 */
export class Reads {
  private readonly queue = new FairQueue<Entry>('Read', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.start(), AT_ONCE);
  /** The running statements. One that takes long does not block the next for the same. */
  private readonly running = new Map<unknown, Group>();
  /** Callers with a slow statement: their next one waits, so that a few callers cannot take all connections. */
  private readonly slowCallers = new Set<number>();
  private lastBatch = 1;

  constructor(
    private readonly session: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  /** @param caller whose turn it takes: the id of a client, or SERVICE */
  run<Key, Result>(read: SharedRead<Key, Result>, key: Key, caller: number): Promise<Result> {
    return this.add(caller, { id: read, read: read as SharedRead<unknown, unknown>, key, isSlow: false });
  }

  /**
   * Requests for the same statement with the same values share it, and its rows.
   * @param isSlow it may read thousands of rows: a caller has one of them at a time
   */
  one<Row>(
    statement: Statement,
    values: unknown[],
    { caller, isSlow, rowOf }: { caller: number; isSlow: boolean; rowOf: (stored: StoredRow) => Row },
  ): Promise<Row[]> {
    const read: SharedRead<unknown, unknown> = {
      maxBatch: Infinity,
      statementFor: () => [statement, values],
      resultsOf: (rows) => [rows.map(rowOf)],
    };
    const id = `${statement.text} ${JSON.stringify(values)}`;
    return this.add(caller, { id, read, key: null, isSlow: isSlow && caller !== SERVICE });
  }

  private add<Result>(caller: number, entry: Entry): Promise<Result> {
    const result = this.queue.add<Result>(caller, entry);
    if (this.limiter.isIdle && this.lastBatch === 1) {
      // Nobody to share with: the read before it was alone, too.
      this.start();
    } else {
      this.limiter.soon();
    }
    return result;
  }

  private start(): void {
    while (this.limiter.isFree) {
      const groups = this.nextGroups();
      if (groups.length === 0) {
        return;
      }
      groups.forEach((group) => this.running.set(group[0]!.id, group));
      void this.limiter.run(
        groups[0]![0]!.context,
        () => this.send(groups),
        () => groups.forEach((group) => this.release(group)),
      );
    }
  }

  private nextGroups(): Group[] {
    const groups = new Map<unknown, Group>();
    const taken = this.queue.take((entry) => {
      const { id, read, isSlow, owner } = entry;
      const group = groups.get(id) ?? [];
      const isFirst = group.length === 0;
      const isFull = isFirst ? groups.size === MAX_TOGETHER : group.length === read.maxBatch;
      const isAnother = isFirst && isSlow && this.slowCallers.has(owner);
      if (isFull || isAnother || this.running.has(id)) {
        return false;
      }
      if (isFirst && isSlow) {
        this.slowCallers.add(owner);
      }
      group.push(entry);
      groups.set(id, group);
      return true;
    });
    this.lastBatch = taken.length || this.lastBatch;
    return [...groups.values()];
  }

  private async send(groups: readonly Group[]): Promise<void> {
    try {
      await this.session((session) =>
        Promise.all(
          session.together(() =>
            groups.map((group) => group[0]!.context.runInAsyncScope(() => this.load(session, group))),
          ),
        ),
      );
    } catch (error) {
      // No connection was available, or it failed.
      groups.flat().forEach(({ reject }) => reject(error));
      groups.forEach((group) => this.end(group));
    }
  }

  private async load(session: Session, group: Group): Promise<void> {
    try {
      const { read } = group[0]!;
      const keys = [...new Set(group.map(({ key }) => key))];
      const [statement, values] = read.statementFor(keys);
      const rows = await withRetries(() => session.read(statement, values));
      const results = new Map(read.resultsOf(rows, keys).map((result, index) => [keys[index], result]));
      group.forEach(({ key, resolve }) => resolve(results.get(key)));
    } catch (error) {
      group.forEach(({ reject }) => reject(error));
    }
    this.end(group);
    // The other statements of the connection may still run.
    this.limiter.soon();
  }

  private end(group: Group): void {
    const { isSlow, owner } = group[0]!;
    if (isSlow) {
      this.slowCallers.delete(owner);
    }
    this.release(group);
  }

  private release(group: Group): void {
    const { id } = group[0]!;
    if (this.running.get(id) === group) {
      this.running.delete(id);
    }
  }
}
