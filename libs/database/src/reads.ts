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

/** By the id of their entries. */
type Groups = Map<unknown, Group>;

/**
 * Reads outside of transactions. Reads that wait are taken in turns between callers. Those that can share a statement do,
 * and the statements are sent together on one connection, because sending takes half the time of a short read. Each
 * statement succeeds or fails alone.
 */
export class Reads {
  private readonly queue = new FairQueue<Entry>('Read', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.start(), AT_ONCE);
  /** The running statements, by those that were sent together. One that takes long does not block the next for the same. */
  private running: Groups[] = [];
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
      const [first] = groups.values();
      if (first === undefined) {
        return;
      }
      this.running.push(groups);
      void this.limiter.run(
        first[0]!.context,
        () => this.send(groups),
        () => this.release(groups),
      );
    }
  }

  private nextGroups(): Groups {
    const groups: Groups = new Map();
    const taken = this.queue.take((entry) => {
      const { id, read, isSlow, owner } = entry;
      const group = groups.get(id) ?? [];
      const isFirst = group.length === 0;
      const isFull = isFirst ? groups.size === MAX_TOGETHER : group.length === read.maxBatch;
      const isAnother = isFirst && isSlow && this.slowCallers.has(owner);
      if (isFull || isAnother || this.running.some((others) => others.has(id))) {
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
    return groups;
  }

  private async send(groups: Groups): Promise<void> {
    const all = [...groups.values()];
    try {
      await this.session((session) =>
        Promise.all(
          session.together(() =>
            all.map((group) => group[0]!.context.runInAsyncScope(() => this.load(session, group, groups))),
          ),
        ),
      );
    } catch (error) {
      // No connection was available, or it failed.
      all.flat().forEach(({ reject }) => reject(error));
      all.forEach((group) => this.end(group, groups));
    }
    this.release(groups);
  }

  private async load(session: Session, group: Group, groups: Groups): Promise<void> {
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
    this.end(group, groups);
    // The other statements of the connection may still run.
    this.limiter.soon();
  }

  /** Others may read the same. */
  private end(group: Group, groups: Groups): void {
    const { id, isSlow, owner } = group[0]!;
    if (isSlow) {
      this.slowCallers.delete(owner);
    }
    groups.delete(id);
  }

  private release(groups: Groups): void {
    this.running = this.running.filter((others) => others !== groups);
  }
}
