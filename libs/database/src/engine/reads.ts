// Reads outside of transactions.
import type { Statement, StoredRow } from './pipeline';
import { ConcurrencyLimiter, FairQueue, type Waiting } from './queue';
import { type Session, type SharedRead, withRetries } from './session';

/** The caller of the service's own reads. */
export const SERVICE_CALLER = 0;

/** Maximum statements on a connection at a time, so that none waits long for those before it. */
const MAX_TOGETHER = 20;
/** Maximum connections for such statements. */
const MAX_CONNECTIONS = 3;

/** Maximum waiting reads, in total and per caller. */
const QUEUE = { max: 10_000, maxOfOwner: 5_000, timeoutMs: 5_000 };

interface Entry {
  /** Those with the same share a statement. */
  id: unknown;
  read: SharedRead<unknown, unknown>;
  key: unknown;
  isSlow: boolean;
}

/** The requests that a statement is for, at least one, and their keys. */
interface Group {
  entries: (Entry & Waiting)[];
  keys: Set<unknown>;
}

/** By the id of their entries. */
type Groups = Map<unknown, Group>;

/**
 * Reads outside of transactions. Reads that wait are taken in turns between callers. Those that can share a statement do,
 * and the statements are sent together on one connection, because sending takes half the time of a short read. Each
 * statement succeeds or fails alone.
 */
export class Reads {
  private readonly queue = new FairQueue<Entry>('Read', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.start(), MAX_CONNECTIONS);
  /** The running statements, by those that were sent together. One that takes long does not block the next for the same. */
  private running: Groups[] = [];
  /** Callers with a slow statement: their next one waits, so that a few callers cannot take all connections. */
  private readonly slowCallers = new Set<number>();
  private lastBatch = 1;

  constructor(
    private readonly session: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  /** @param caller whose turn it takes: the id of a client, or SERVICE_CALLER */
  readByKey<Key, Result>(read: SharedRead<Key, Result>, key: Key, caller: number): Promise<Result> {
    return this.add(caller, { id: read, read: read as SharedRead<unknown, unknown>, key, isSlow: false });
  }

  /**
   * Requests for the same statement with the same values share it, and its rows.
   * @param isSlow it may read thousands of rows: a caller has one of them at a time
   */
  read(statement: Statement, values: unknown[], caller: number, isSlow: boolean): Promise<StoredRow[]> {
    const read: SharedRead<unknown, unknown> = {
      maxBatch: Infinity,
      callFor: () => ({ statement, values }),
      resultsOf: (rows) => [rows],
    };
    const id = `${statement.text} ${JSON.stringify(values)}`;
    return this.add(caller, { id, read, key: null, isSlow: isSlow && caller !== SERVICE_CALLER });
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
      void this.limiter.run(first.entries[0]!.context, () => this.send(groups), {
        onSlow: () => this.release(groups),
      });
    }
  }

  private nextGroups(): Groups {
    const groups: Groups = new Map();
    const taken = this.queue.take((entry) => {
      const { id, read, key, isSlow, owner } = entry;
      const group = groups.get(id) ?? { entries: [], keys: new Set() };
      const isFirst = group.entries.length === 0;
      const isFull = isFirst
        ? groups.size === MAX_TOGETHER
        : group.keys.size === read.maxBatch && !group.keys.has(key);
      const isAnother = isFirst && isSlow && this.slowCallers.has(owner);
      if (isFull || isAnother || this.running.some((others) => others.has(id))) {
        return false;
      }
      if (isFirst && isSlow) {
        this.slowCallers.add(owner);
      }
      group.entries.push(entry);
      group.keys.add(key);
      groups.set(id, group);
      return true;
    });
    this.lastBatch = taken.length || this.lastBatch;
    return groups;
  }

  private async send(groups: Groups): Promise<void> {
    const all = [...groups.values()];
    try {
      await this.session((session) => {
        const load = (group: Group): Promise<void> =>
          group.entries[0]!.context.runInAsyncScope(() => this.load(session, group, groups));
        return all.length === 1
          ? load(all[0]!)
          : Promise.all(session.corked(() => all.map(load))).then(() => undefined);
      });
    } catch (error) {
      // No connection was available, or it failed.
      all.flatMap(({ entries }) => entries).forEach(({ reject }) => reject(error));
      all.forEach((group) => this.end(group, groups));
    }
    this.release(groups);
  }

  private async load(session: Session, group: Group, groups: Groups): Promise<void> {
    const { entries } = group;
    try {
      const { read } = entries[0]!;
      const keys = [...group.keys];
      const [result] = await withRetries(() => session.execute([read.callFor(keys)]));
      const results = new Map(read.resultsOf(result!.rows, keys).map((found, index) => [keys[index], found]));
      entries.forEach(({ key, resolve }) => resolve(results.get(key)));
    } catch (error) {
      entries.forEach(({ reject }) => reject(error));
    }
    this.end(group, groups);
    // The other statements of the connection may still run.
    this.limiter.soon();
  }

  /** Others may read the same. */
  private end(group: Group, groups: Groups): void {
    const { id, isSlow, owner } = group.entries[0]!;
    if (isSlow) {
      this.slowCallers.delete(owner);
    }
    groups.delete(id);
  }

  private release(groups: Groups): void {
    this.running = this.running.filter((others) => others !== groups);
  }
}
